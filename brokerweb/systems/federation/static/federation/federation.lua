-- Messages of Federation for Wireshark and tshark, and the datagrams of the channel that carry them. Generated: do not edit.
--
-- Put this file into the folder "Personal Lua Plugins" (Help, About Wireshark, Folders), or name it once:
--   tshark -X lua_script:federation.lua -r run.pcapng
-- Datagrams are known by their first bytes whatever their port; a range of ports that is always read so is a preference.
-- A message in several records is joined where all of them are in the capture.

local proto = Proto("federation", "Federation")
local wrong = ProtoExpert.new("federation.wrong", "Not a message that is read", expert.group.MALFORMED, expert.severity.ERROR)
local f = {}
local function say_wrong(tree, words) tree:add_proto_expert_info(wrong, words) end

-- ---- messages: read(tvb, tree) gives what one says, for the list of packets, or nil for none

-- Kinds of values: "type", and names and kinds of the elements of arrays. Messages: name, and names and kinds of fields.
local V = {
  [1] = { type = "number" },
  [2] = { type = "array", parts = { { "id", 3 }, { "registration", 1 }, { "role", 4 }, { "url", 5 }, { "scopes", 6 }, { "needs", 7 } } },
  [3] = { type = "text" },
  [4] = { type = "choice", words = 1 },
  [5] = { type = "text" },
  [6] = { type = "array", each = { "scope", 3 } },
  [7] = { type = "any" },
  [8] = { type = "array", each = { "added", 9 } },
  [9] = { type = "array", parts = { { "id", 10 }, { "scopes", 11 }, { "expression", 12 }, { "expires", 13 }, { "priority", 14 }, { "once", 15 } } },
  [10] = { type = "array", parts = { { "client", 3 }, { "number", 1 } } },
  [11] = { type = "array", each = { "scope", 3 } },
  [12] = { type = "any" },
  [13] = { type = "time" },
  [14] = { type = "choice", words = 2 },
  [15] = { type = "boolean" },
  [16] = { type = "array", each = { "removed", 10 } },
  [17] = { type = "array", each = { "publication", 18 } },
  [18] = { type = "array", parts = { { "notification", 19 }, { "satisfied", 22 } } },
  [19] = { type = "array", parts = { { "id", 20 }, { "entity_type", 3 }, { "entity_id", 3 }, { "scope", 3 }, { "timestamp", 13 }, { "expires", 13 }, { "data", 21 } } },
  [20] = { type = "array", parts = { { "provider", 3 }, { "number", 1 } } },
  [21] = { type = "any" },
  [22] = { type = "array", each = { "satisfied", 10 } },
  [23] = { type = "array", each = { "added", 9 } },
  [24] = { type = "array", each = { "withdrawn", 10 } },
  [25] = { type = "array", each = { "found", 26 } },
  [26] = { type = "array", parts = { { "id", 3 }, { "endpoint", 27 }, { "url", 5 } } },
  [27] = { type = "text" },
  [28] = { type = "text", is_optional = true },
  [29] = { type = "array", each = { "scope", 3 } },
  [30] = { type = "choice", words = 3 },
  [31] = { type = "array", each = { "notification", 19 } },
  [32] = { type = "array", parts = { { "id", 3 }, { "endpoint", 27 }, { "is_mobile", 15 }, { "position", 33 }, { "domain", 35 }, { "candidates", 36 } } },
  [33] = { type = "array", parts = { { "x", 34 }, { "y", 34 } }, is_optional = true },
  [34] = { type = "any" },
  [35] = { type = "text" },
  [36] = { type = "array", each = { "candidate", 37 } },
  [37] = { type = "array", parts = { { "broker", 3 }, { "delay_us", 1 }, { "is_up", 15 } } },
  [38] = { type = "array", parts = { { "count", 1 }, { "total", 1 } } },
  [39] = { type = "choice", words = 4 },
  [40] = { type = "array", each = { "added", 9 } },
  [41] = { type = "array", each = { "removed", 10 } },
  [42] = { type = "array", each = { "added", 43 } },
  [43] = { type = "array", parts = { { "advertisement", 2 }, { "endpoint", 27 }, { "home", 3 }, { "version", 1 } } },
  [44] = { type = "array", each = { "removed", 3 } },
  [45] = { type = "array", each = { "path", 3 } },
  [46] = { type = "array", each = { "ended", 10 } },
  [47] = { type = "choice", words = 5 },
  [48] = { type = "array", each = { "broker", 32 } },
  [49] = { type = "array", each = { "gone", 3 } },
  [50] = { type = "array", each = { "edge", 51 } },
  [51] = { type = "array", parts = { { "first", 3 }, { "second", 3 } } },
  [52] = { type = "text" },
  [53] = { type = "any" },
  [54] = { type = "any" },
  [55] = { type = "choice", words = 3 },
  [56] = { type = "text" },
}
local M = {
  [1] = { "REGISTER", { { "req", 1 }, { "advertisement", 2 } } },
  [2] = { "KEEPALIVE", { { "number", 1 } } },
  [3] = { "UNREGISTER", { { "req", 1 }, { "registration", 1 } } },
  [4] = { "SUBSCRIBE", { { "req", 1 }, { "added", 8 }, { "removed", 16 } } },
  [5] = { "PUBLISH", { { "req", 1 }, { "publications", 17 } } },
  [6] = { "NOTIFY", { { "notification", 19 }, { "satisfied", 22 }, { "is_cached", 15 }, { "hops", 1 } } },
  [7] = { "OFFER", { { "added", 23 }, { "withdrawn", 24 } } },
  [8] = { "LOOKUP", { { "req", 1 }, { "scope", 3 } } },
  [9] = { "FOUND", { { "req", 1 }, { "found", 25 } } },
  [10] = { "QUERY", { { "req", 1 }, { "entity_type", 28 }, { "entity_id", 28 }, { "scopes", 29 }, { "left_ms", 1 } } },
  [11] = { "ANSWER", { { "req", 1 }, { "code", 30 }, { "notifications", 31 } } },
  [12] = { "HELLO", { { "broker", 32 }, { "epoch", 1 }, { "subscriptions", 38 }, { "registrations", 38 } } },
  [13] = { "SUBTABLE", { { "version", 1 }, { "whole", 39 }, { "added", 40 }, { "removed", 41 } } },
  [14] = { "REGTABLE", { { "version", 1 }, { "whole", 39 }, { "added", 42 }, { "removed", 44 }, { "summary", 38 } } },
  [15] = { "FORWARD", { { "notification", 19 }, { "hops", 1 }, { "path", 45 }, { "ended", 46 } } },
  [16] = { "TABLES", { { "wanted", 47 } } },
  [17] = { "BROKER", { { "req", 1 }, { "broker", 32 }, { "last_epoch", 1 }, { "is_registering", 15 } } },
  [18] = { "BROKERS", { { "epoch", 1 }, { "whole", 39 }, { "brokers", 48 }, { "gone", 49 }, { "edges", 50 } } },
  [19] = { "FIND", { { "req", 1 }, { "position", 33 }, { "scope", 52 } } },
  [20] = { "DISCOVER", { { "nonce", 1 }, { "padding", 53 } } },
  [21] = { "HERE", { { "nonce", 1 }, { "broker", 54 } } },
  [22] = { "ACK", { { "req", 1 } } },
  [23] = { "NACK", { { "kind_number", 1 }, { "req", 1 }, { "code", 55 }, { "words", 56 } } },
  [24] = { "LINK", { { "is_up", 15 } } },
}
local NAMES = {}
for code, message in pairs(M) do NAMES[code] = message[1] end
local WORDS = {
  [1] = { [0] = "consumer", [1] = "provider" },
  [2] = { [0] = "low", [1] = "normal", [2] = "high" },
  [3] = { [0] = "good", [1] = "unknown", [2] = "invalid", [3] = "bad", [4] = "limit", [5] = "no provider", [6] = "cycle", [7] = "timeout", [8] = "denied" },
  [4] = { [0] = "changes", [1] = "last", [2] = "part" },
  [5] = { [1] = "subscriptions", [2] = "registrations" },
}
f["req"] = ProtoField.uint64("federation.req", "req")
f["id"] = ProtoField.string("federation.id", "id")
f["registration"] = ProtoField.uint64("federation.registration", "registration")
f["role"] = ProtoField.uint32("federation.role", "role", base.DEC, WORDS[1])
f["url"] = ProtoField.string("federation.url", "url")
f["scope"] = ProtoField.string("federation.scope", "scope")
f["scopes"] = ProtoField.string("federation.scopes", "scopes")
f["needs"] = ProtoField.string("federation.needs", "needs")
f["advertisement"] = ProtoField.string("federation.advertisement", "advertisement")
f["number"] = ProtoField.uint64("federation.number", "number")
f["client"] = ProtoField.string("federation.client", "client")
f["expression"] = ProtoField.string("federation.expression", "expression")
f["expires"] = ProtoField.absolute_time("federation.expires", "expires", base.UTC)
f["priority"] = ProtoField.uint32("federation.priority", "priority", base.DEC, WORDS[2])
f["once"] = ProtoField.bool("federation.once", "once")
f["added"] = ProtoField.string("federation.added", "added")
f["removed"] = ProtoField.string("federation.removed", "removed")
f["provider"] = ProtoField.string("federation.provider", "provider")
f["entity_type"] = ProtoField.string("federation.entity_type", "entity_type")
f["entity_id"] = ProtoField.string("federation.entity_id", "entity_id")
f["timestamp"] = ProtoField.absolute_time("federation.timestamp", "timestamp", base.UTC)
f["data"] = ProtoField.string("federation.data", "data")
f["notification"] = ProtoField.string("federation.notification", "notification")
f["satisfied"] = ProtoField.string("federation.satisfied", "satisfied")
f["publication"] = ProtoField.string("federation.publication", "publication")
f["publications"] = ProtoField.string("federation.publications", "publications")
f["is_cached"] = ProtoField.bool("federation.is_cached", "is_cached")
f["hops"] = ProtoField.uint64("federation.hops", "hops")
f["withdrawn"] = ProtoField.string("federation.withdrawn", "withdrawn")
f["endpoint"] = ProtoField.string("federation.endpoint", "endpoint")
f["found"] = ProtoField.string("federation.found", "found")
f["left_ms"] = ProtoField.uint64("federation.left_ms", "left_ms")
f["code"] = ProtoField.uint32("federation.code", "code", base.DEC, WORDS[3])
f["notifications"] = ProtoField.string("federation.notifications", "notifications")
f["is_mobile"] = ProtoField.bool("federation.is_mobile", "is_mobile")
f["x"] = ProtoField.string("federation.x", "x")
f["y"] = ProtoField.string("federation.y", "y")
f["position"] = ProtoField.string("federation.position", "position")
f["domain"] = ProtoField.string("federation.domain", "domain")
f["broker"] = ProtoField.string("federation.broker", "broker")
f["delay_us"] = ProtoField.uint64("federation.delay_us", "delay_us")
f["is_up"] = ProtoField.bool("federation.is_up", "is_up")
f["candidate"] = ProtoField.string("federation.candidate", "candidate")
f["candidates"] = ProtoField.string("federation.candidates", "candidates")
f["epoch"] = ProtoField.uint64("federation.epoch", "epoch")
f["count"] = ProtoField.uint64("federation.count", "count")
f["total"] = ProtoField.uint64("federation.total", "total")
f["subscriptions"] = ProtoField.string("federation.subscriptions", "subscriptions")
f["registrations"] = ProtoField.string("federation.registrations", "registrations")
f["version"] = ProtoField.uint64("federation.version", "version")
f["whole"] = ProtoField.uint32("federation.whole", "whole", base.DEC, WORDS[4])
f["home"] = ProtoField.string("federation.home", "home")
f["summary"] = ProtoField.string("federation.summary", "summary")
f["path"] = ProtoField.string("federation.path", "path")
f["ended"] = ProtoField.string("federation.ended", "ended")
f["wanted"] = ProtoField.uint32("federation.wanted", "wanted", base.DEC, WORDS[5])
f["last_epoch"] = ProtoField.uint64("federation.last_epoch", "last_epoch")
f["is_registering"] = ProtoField.bool("federation.is_registering", "is_registering")
f["brokers"] = ProtoField.string("federation.brokers", "brokers")
f["gone"] = ProtoField.string("federation.gone", "gone")
f["first"] = ProtoField.string("federation.first", "first")
f["second"] = ProtoField.string("federation.second", "second")
f["edge"] = ProtoField.string("federation.edge", "edge")
f["edges"] = ProtoField.string("federation.edges", "edges")
f["nonce"] = ProtoField.uint64("federation.nonce", "nonce")
f["padding"] = ProtoField.string("federation.padding", "padding")
f["kind_number"] = ProtoField.uint64("federation.kind_number", "kind")
f["words"] = ProtoField.string("federation.words", "words")
f["contextml"] = ProtoField.string("federation.contextml", "ContextML")
f["kind"] = ProtoField.uint32("federation.kind", "kind", base.DEC, NAMES)
f["entry"] = ProtoField.string("federation.entry", "entry")
f["other"] = ProtoField.string("federation.other", "value")

local MOST_DEPTH = 32
local INSIDE = "contextml" -- the field of documents in texts
local CONSTANTS = { [0xc0] = "nil", [0xc2] = "false", [0xc3] = "true" }
local SIZED = {
  [0xc4] = { "bytes", 1 }, [0xc5] = { "bytes", 2 }, [0xc6] = { "bytes", 4 },
  [0xd9] = { "text", 1 }, [0xda] = { "text", 2 }, [0xdb] = { "text", 4 },
  [0xdc] = { "array", 2 }, [0xdd] = { "array", 4 }, [0xde] = { "map", 2 }, [0xdf] = { "map", 4 },
}

-- A value of MessagePack: type, place, and its text or its elements; nil where it cannot be read.
local unpacked
local function many(tvb, at, inside, kind, count, depth)
  local found = { type = kind, at = at, inside = inside, stop = inside, elements = {}, count = count }
  for _ = 1, kind == "map" and 2 * count or count do
    local element = depth > 0 and unpacked(tvb, found.stop, depth - 1)
    if not element then return nil end
    table.insert(found.elements, element)
    found.stop = element.stop
  end
  local texts = {}
  for _, element in ipairs(found.elements) do table.insert(texts, element.text) end
  found.text = (kind == "map" and "{" or "[") .. table.concat(texts, ", ") .. (kind == "map" and "}" or "]")
  return found
end

local function run(tvb, at, inside, kind, size)
  if inside + size > tvb:len() then return nil end
  local found = { type = kind, at = at, inside = inside, stop = inside + size, text = "" }
  if size > 0 then
    local range = tvb(inside, size)
    found.text = kind == "text" and range:string(ENC_UTF_8) or range:bytes():tohex()
  end
  return found
end

local function number(tvb, at, first)
  local size = first <= 0xcb and (first == 0xca and 4 or 8) or 2 ^ ((first - 0xcc) % 4)
  if at + 1 + size > tvb:len() then return nil end
  local range = tvb(at + 1, size)
  local found = { type = "integer", at = at, stop = at + 1 + size, range = range }
  if first <= 0xcb then
    found.type, found.text = "float", tostring(range:float())
  elseif first < 0xd0 then
    found.text = size == 8 and tostring(range:uint64()) or tostring(range:uint())
  else
    found.text = size == 8 and tostring(range:int64()) or tostring(range:int())
  end
  return found
end

function unpacked(tvb, at, depth)
  if at >= tvb:len() then return nil end
  local first = tvb(at, 1):uint()
  if first < 0x80 or first >= 0xe0 then
    return { type = "integer", at = at, stop = at + 1, text = tostring(first < 0x80 and first or first - 0x100) }
  end
  if first < 0x90 then return many(tvb, at, at + 1, "map", first - 0x80, depth) end
  if first < 0xa0 then return many(tvb, at, at + 1, "array", first - 0x90, depth) end
  if first < 0xc0 then return run(tvb, at, at + 1, "text", first - 0xa0) end
  if CONSTANTS[first] then return { type = CONSTANTS[first], at = at, stop = at + 1, text = CONSTANTS[first] } end
  if first >= 0xca and first <= 0xd3 then return number(tvb, at, first) end
  local sized = SIZED[first]
  if not sized or at + 1 + sized[2] > tvb:len() then return nil end
  local size, inside = tvb(at + 1, sized[2]):uint(), at + 1 + sized[2]
  if sized[1] == "array" or sized[1] == "map" then
    if size > tvb:len() then return nil end
    return many(tvb, at, inside, sized[1], size, depth)
  end
  return run(tvb, at, inside, sized[1], size)
end

local function moment(text)
  local ms = UInt64.new(0)
  for digit in text:gmatch("%d") do ms = ms * 10 + tonumber(digit) end
  return NSTime.new((ms / 1000):tonumber(), (ms % 1000):tonumber() * 1000000)
end

local ADDERS = {
  number = function(tree, field, range, value)
    if value.type ~= "integer" or value.text:sub(1, 1) == "-" then return nil end
    local number = UInt64.new(0)
    for digit in value.text:gmatch("%d") do number = number * 10 + tonumber(digit) end
    return tree:add(field, range, number)
  end,
  choice = function(tree, field, range, value)
    if value.type ~= "integer" then return nil end
    return tree:add(field, range, tonumber(value.text))
  end,
  time = function(tree, field, range, value)
    if value.type ~= "integer" or value.text:sub(1, 1) == "-" then return nil end
    return tree:add(field, range, moment(value.text))
  end,
  boolean = function(tree, field, range, value)
    if value.type ~= "true" and value.type ~= "false" then return nil end
    return tree:add(field, range, value.type == "true")
  end,
  text = function(tree, field, range, value)
    if value.type ~= "text" then return nil end
    return tree:add(field, range, value.text)
  end,
  array = function(tree, field, range, value)
    if value.type ~= "array" then return nil end
    return tree:add(field, range, value.text)
  end,
  any = function(tree, field, range, value) return tree:add(field, range, value.text) end,
}

local add
local function add_inside(tvb, tree, name, kind, value)
  local form = V[kind]
  if value.type == "map" then
    for at = 1, #value.elements, 2 do
      local key, one = value.elements[at], value.elements[at + 1]
      tree:add(f["entry"], tvb(key.at, one.stop - key.at), key.text .. " = " .. one.text)
    end
  elseif value.type == "array" then
    for at, element in ipairs(value.elements) do
      if form.each then add(tvb, tree, form.each[1], form.each[2], element)
      elseif form.parts and form.parts[at] then add(tvb, tree, form.parts[at][1], form.parts[at][2], element) end
    end
  end
end

function add(tvb, tree, name, kind, value)
  local form, range = V[kind], tvb(value.at, value.stop - value.at)
  if form.is_optional and value.type == "nil" then return end
  if INSIDE and form.parts and value.type == "text" and value.text:sub(1, 1) == "<" then
    tree:add(f[INSIDE], range, value.text)
    return
  end
  local branch = ADDERS[form.type](tree, f[name], range, value)
  if not branch then
    say_wrong(tree:add(f["other"], range, value.text), name .. " must not be " .. value.text)
    return
  end
  if form.words and not WORDS[form.words][tonumber(value.text)] then
    say_wrong(branch, name .. " must not be " .. value.text)
  end
  if form.parts or form.each or value.type == "map" then add_inside(tvb, branch, name, kind, value) end
end

local function read(tvb, tree)
  local value = unpacked(tvb, 0, MOST_DEPTH)
  local code = value and value.type == "array" and value.elements[1] and value.elements[1].type == "integer"
    and tonumber(value.elements[1].text)
  local message = code and M[code]
  if not message then return nil end
  local branch = tree:add(f["kind"], tvb(value.elements[1].at, value.elements[1].stop - value.elements[1].at), code)
  local fields = message[2]
  for at, field in ipairs(fields) do
    local element = value.elements[at + 1]
    if not element then
      say_wrong(branch, field[1] .. " is missing")
      break
    end
    add(tvb, branch, field[1], field[2], element)
  end
  if #value.elements - 1 > #fields then say_wrong(branch, "The message has surplus fields") end
  if value.stop < tvb:len() then say_wrong(branch, "Surplus bytes follow the message") end
  return message[1]
end

-- ---- the channel

local KINDS = { [1] = "channel DATA", [2] = "channel ACK", [3] = "channel HELLO", [4] = "channel WELCOME", [5] = "channel RESET", [6] = "channel BYE", [7] = "channel PROBE", [8] = "channel PROBED", [9] = "channel LOOSE" }
local BODIES = {
  [1] = "records",
  [2] = "",
  [3] = "number id padding",
  [4] = "number id",
  [5] = "number",
  [6] = "",
  [7] = "number",
  [8] = "number",
  [9] = "id message",
}
local HEAD = 28
local DATA = 1

f["channel.magic"] = ProtoField.uint8("federation.channel.magic", "magic", base.HEX)
f["channel.kind"] = ProtoField.uint8("federation.channel.kind", "kind", base.DEC, KINDS)
f["channel.room"] = ProtoField.uint16("federation.channel.room", "room (records)")
f["channel.to"] = ProtoField.uint64("federation.channel.to", "to", base.HEX)
f["channel.seq"] = ProtoField.uint32("federation.channel.seq", "seq")
f["channel.ack"] = ProtoField.uint32("federation.channel.ack", "ack")
f["channel.sack"] = ProtoField.uint64("federation.channel.sack", "sack", base.HEX)
f["channel.number"] = ProtoField.uint64("federation.channel.number", "incarnation or nonce", base.HEX)
f["channel.id"] = ProtoField.string("federation.channel.id", "id")
f["channel.padding"] = ProtoField.bytes("federation.channel.padding", "padding")
f["channel.length"] = ProtoField.uint16("federation.channel.length", "length of record")
f["channel.part"] = ProtoField.bytes("federation.channel.part", "part of a message")

local listed = {}
for _, field in pairs(f) do table.insert(listed, field) end
proto.fields = listed
proto.experts = { wrong }
proto.prefs.ports = Pref.range("UDP ports", "", "Ports whose datagrams are always read as Federation's", 65535)

-- Parts of messages by the incarnation that they go to, and what was joined by packet and record.
local pending, joined = {}, {}
function proto.init() pending, joined = {}, {} end

-- The message that this last part completes, or nil if its beginning is not there.
local function complete(pinfo, to, number, seq, part, goes_on)
  local key = pinfo.number .. "/" .. number
  if not pinfo.visited then
    local before = pending[to .. "/" .. (seq - 1)]
    local bytes = ByteArray.new()
    if before then bytes = bytes .. before end
    bytes = bytes .. part:bytes()
    if goes_on then pending[to .. "/" .. seq] = bytes
    elseif before then joined[key] = bytes end
  end
  return joined[key]
end

local function records(buffer, pinfo, root)
  local to, first = tostring(buffer(4, 8):uint64()), buffer(12, 4):uint()
  local at, number, said = HEAD, 0, ""
  while at < buffer:len() do
    local size = at + 2 <= buffer:len() and buffer(at, 2):uint() or 0
    local goes_on, length = size >= 0x8000, size % 0x8000
    if length == 0 or at + 2 + length > buffer:len() then
      say_wrong(root, "Records do not fill the datagram")
      return said
    end
    root:add(f["channel.length"], buffer(at, 2), length):append_text(goes_on and ", the message goes on" or "")
    local part = buffer(at + 2, length)
    local whole = complete(pinfo, to, number, first + number, part, goes_on)
    if whole then
      root:add(f["channel.part"], part)
      said = said .. "  " .. (read(whole:tvb("Joined message"), root) or "unreadable")
    elseif goes_on then
      root:add(f["channel.part"], part)
      said = said .. "  part"
    else
      local told = read(part:tvb(), root)
      if not told and number > 0 then say_wrong(root, "Not a message") end
      said = said .. "  " .. (told or "part")
    end
    at, number = at + 2 + length, number + 1
  end
  return said
end

local function identified(buffer, at, root)
  if at >= buffer:len() or at + 1 + buffer(at, 1):uint() > buffer:len() then
    say_wrong(root, "The id is cut off")
    return buffer:len(), ""
  end
  local length = buffer(at, 1):uint()
  if length == 0 then
    say_wrong(root, "The id is empty")
    return at + 1, ""
  end
  root:add(f["channel.id"], buffer(at + 1, length))
  return at + 1 + length, "  " .. buffer(at + 1, length):string(ENC_UTF_8)
end

local function body(kind, buffer, pinfo, root)
  if kind == DATA then return records(buffer, pinfo, root) end
  local at, said, wanted = HEAD, "", BODIES[kind]
  if wanted:find("number") then
    if at + 8 > buffer:len() then
      say_wrong(root, "The datagram is cut off")
      return said
    end
    root:add(f["channel.number"], buffer(at, 8))
    at = at + 8
  end
  if wanted:find("id") then
    local text
    at, text = identified(buffer, at, root)
    said = said .. text
  end
  if at < buffer:len() then
    if wanted:find("message") then
      said = said .. "  " .. (read(buffer(at):tvb(), root) or "unreadable")
    elseif wanted:find("padding") then
      root:add(f["channel.padding"], buffer(at))
    else
      say_wrong(root, "The datagram has surplus bytes")
    end
  end
  return said
end

function proto.dissector(buffer, pinfo, tree)
  if buffer:len() < 2 then return 0 end
  local root = tree:add(proto, buffer())
  pinfo.cols.protocol = "Federation"
  local kind = buffer(1, 1):uint()
  if buffer:len() < HEAD or buffer(0, 1):uint() ~= 0xc5 or not KINDS[kind] then
    say_wrong(root, "Not a datagram of the channel")
    return buffer:len()
  end
  root:add(f["channel.magic"], buffer(0, 1))
  root:add(f["channel.kind"], buffer(1, 1))
  root:add(f["channel.room"], buffer(2, 2))
  root:add(f["channel.to"], buffer(4, 8))
  root:add(f["channel.seq"], buffer(12, 4))
  root:add(f["channel.ack"], buffer(16, 4))
  root:add(f["channel.sack"], buffer(20, 8))
  local said = body(kind, buffer, pinfo, root)
  pinfo.cols.info = (KINDS[kind] .. said):gsub("[^%g ]", "."):sub(1, 160)
  root:append_text(", " .. KINDS[kind])
  return buffer:len()
end

local function is_ours(buffer)
  return buffer:len() >= HEAD and buffer(0, 1):uint() == 0xc5 and KINDS[buffer(1, 1):uint()] ~= nil
end

proto:register_heuristic("udp", function(buffer, pinfo, tree)
  if not is_ours(buffer) then return false end
  proto.dissector(buffer, pinfo, tree)
  return true
end)

local ports = DissectorTable.get("udp.port")
local chosen = ""
function proto.prefs_changed()
  if chosen ~= "" then ports:remove(chosen, proto) end
  chosen = proto.prefs.ports
  if chosen ~= "" then ports:add(chosen, proto) end
end
ports:add_for_decode_as(proto)
