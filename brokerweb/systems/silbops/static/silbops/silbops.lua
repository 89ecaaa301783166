-- Messages of SilboPS for Wireshark and tshark, and the datagrams of the channel that carry them. Generated: do not edit.
--
-- Put this file into the folder "Personal Lua Plugins" (Help, About Wireshark, Folders), or name it once:
--   tshark -X lua_script:silbops.lua -r run.pcapng
-- Datagrams are known by their first bytes whatever their port; a range of ports that is always read so is a preference.
-- A message in several records is joined where all of them are in the capture.

local proto = Proto("silbops", "SilboPS")
local wrong = ProtoExpert.new("silbops.wrong", "Not a message that is read", expert.group.MALFORMED, expert.severity.ERROR)
local f = {}
local function say_wrong(tree, words) tree:add_proto_expert_info(wrong, words) end

-- ---- messages: read(tvb, tree) gives what one says, for the list of packets, or nil for none

-- Kinds of values: "type", and names and kinds of the elements of arrays. Messages: name, and names and kinds of fields.
local V = {
  [1] = { type = "any" },
  [2] = { type = "choice", words = 1 },
  [3] = { type = "text", is_optional = true },
  [4] = { type = "boolean" },
  [5] = { type = "number" },
  [6] = { type = "any" },
  [7] = { type = "any" },
  [8] = { type = "any" },
  [9] = { type = "any", is_optional = true },
  [10] = { type = "any" },
  [11] = { type = "any", is_optional = true },
  [12] = { type = "any" },
  [13] = { type = "array", each = { "id", 5 } },
  [14] = { type = "array", parts = { { "owner", 1 }, { "context", 6 }, { "scope", 11 } }, is_optional = true },
  [15] = { type = "choice", words = 2 },
  [16] = { type = "text" },
  [17] = { type = "text" },
  [18] = { type = "array", parts = { { "owner", 1 }, { "number", 5 } } },
  [19] = { type = "any" },
  [20] = { type = "array", parts = { { "version", 5 }, { "values", 6 } }, is_optional = true },
  [21] = { type = "array", each = { "subscription", 22 } },
  [22] = { type = "array", parts = { { "owner", 1 }, { "id", 5 }, { "filter", 7 }, { "scope", 11 }, { "ttl_ms", 10 } } },
  [23] = { type = "array", each = { "advertisement", 24 } },
  [24] = { type = "array", parts = { { "key", 18 }, { "filter", 7 }, { "variables", 8 }, { "subscriber_variables", 9 }, { "ttl_ms", 10 } } },
  [25] = { type = "array", each = { "kept", 26 } },
  [26] = { type = "array", parts = { { "publisher", 5 }, { "number", 5 }, { "notification", 12 }, { "ids", 13 } } },
}
local M = {
  [1] = { "ATTACH", { { "client", 1 }, { "mode", 2 }, { "old", 3 } } },
  [2] = { "ATTACHED", { { "is_resumed", 4 } } },
  [10] = { "SETCTX", { { "req", 5 }, { "values", 6 } } },
  [11] = { "ADVERTISE", { { "req", 5 }, { "id", 5 }, { "filter", 7 }, { "variables", 8 }, { "subscriber_variables", 9 }, { "ttl_ms", 10 } } },
  [12] = { "UNADVERTISE", { { "req", 5 }, { "id", 5 } } },
  [13] = { "SUBSCRIBE", { { "req", 5 }, { "id", 5 }, { "filter", 7 }, { "scope", 11 }, { "ttl_ms", 10 } } },
  [14] = { "UNSUBSCRIBE", { { "req", 5 }, { "id", 5 } } },
  [15] = { "PUBLISH", { { "number", 5 }, { "notification", 12 }, { "context", 6 }, { "scope", 11 } } },
  [16] = { "NOTIFY", { { "publisher", 5 }, { "number", 5 }, { "notification", 12 }, { "ids", 13 }, { "passed", 14 } } },
  [17] = { "OK", { { "req", 5 } } },
  [18] = { "REFUSED", { { "req", 5 }, { "code", 15 }, { "text", 16 } } },
  [20] = { "PEER", { { "broker", 17 }, { "epoch", 5 }, { "version", 5 } } },
  [21] = { "ADV", { { "key", 18 }, { "filter", 7 }, { "variables", 8 }, { "subscriber_variables", 9 }, { "ttl_ms", 10 } } },
  [22] = { "UNADV", { { "key", 18 } } },
  [23] = { "CTX", { { "owner", 1 }, { "version", 5 }, { "values", 6 } } },
  [24] = { "SUB", { { "owner", 1 }, { "id", 5 }, { "filter", 7 }, { "scope", 11 }, { "ttl_ms", 10 } } },
  [25] = { "UNSUB", { { "owner", 1 }, { "id", 5 } } },
  [26] = { "FORGET", { { "owner", 1 } } },
  [27] = { "PUB", { { "publisher_any", 1 }, { "number", 5 }, { "notification", 12 }, { "context", 19 }, { "scope", 11 } } },
  [28] = { "PCTX", { { "publisher_any", 1 }, { "version", 5 }, { "values", 6 } } },
  [29] = { "MOVE", { { "client", 1 } } },
  [30] = { "TAKE", { { "client", 1 }, { "owner", 1 }, { "context", 20 }, { "subscriptions", 21 }, { "advertisements", 23 }, { "kept", 25 }, { "is_last", 4 } } },
}
local NAMES = {}
for code, message in pairs(M) do NAMES[code] = message[1] end
local WORDS = {
  [1] = { [0] = "new", [1] = "resume" },
  [2] = { [1] = "malformed", [2] = "too large", [3] = "unknown id", [4] = "limit", [5] = "bad scope", [6] = "not attached", [7] = "not advertised" },
}
f["client"] = ProtoField.string("silbops.client", "client")
f["mode"] = ProtoField.uint32("silbops.mode", "mode", base.DEC, WORDS[1])
f["old"] = ProtoField.string("silbops.old", "old")
f["is_resumed"] = ProtoField.bool("silbops.is_resumed", "is_resumed")
f["req"] = ProtoField.uint64("silbops.req", "req")
f["values"] = ProtoField.string("silbops.values", "values")
f["id"] = ProtoField.uint64("silbops.id", "id")
f["filter"] = ProtoField.string("silbops.filter", "filter")
f["variables"] = ProtoField.string("silbops.variables", "variables")
f["subscriber_variables"] = ProtoField.string("silbops.subscriber_variables", "subscriber_variables")
f["ttl_ms"] = ProtoField.string("silbops.ttl_ms", "ttl_ms")
f["scope"] = ProtoField.string("silbops.scope", "scope")
f["number"] = ProtoField.uint64("silbops.number", "number")
f["notification"] = ProtoField.string("silbops.notification", "notification")
f["context"] = ProtoField.string("silbops.context", "context")
f["publisher"] = ProtoField.uint64("silbops.publisher", "publisher")
f["ids"] = ProtoField.string("silbops.ids", "ids")
f["owner"] = ProtoField.string("silbops.owner", "owner")
f["passed"] = ProtoField.string("silbops.passed", "passed")
f["code"] = ProtoField.uint32("silbops.code", "code", base.DEC, WORDS[2])
f["text"] = ProtoField.string("silbops.text", "text")
f["broker"] = ProtoField.string("silbops.broker", "broker")
f["epoch"] = ProtoField.uint64("silbops.epoch", "epoch")
f["version"] = ProtoField.uint64("silbops.version", "version")
f["key"] = ProtoField.string("silbops.key", "key")
f["publisher_any"] = ProtoField.string("silbops.publisher_any", "publisher")
f["subscription"] = ProtoField.string("silbops.subscription", "subscription")
f["subscriptions"] = ProtoField.string("silbops.subscriptions", "subscriptions")
f["advertisement"] = ProtoField.string("silbops.advertisement", "advertisement")
f["advertisements"] = ProtoField.string("silbops.advertisements", "advertisements")
f["kept"] = ProtoField.string("silbops.kept", "kept")
f["is_last"] = ProtoField.bool("silbops.is_last", "is_last")
f["kind"] = ProtoField.uint32("silbops.kind", "kind", base.DEC, NAMES)
f["entry"] = ProtoField.string("silbops.entry", "entry")
f["other"] = ProtoField.string("silbops.other", "value")

local MOST_DEPTH = 32
local INSIDE = nil -- the field of documents in texts
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

f["channel.magic"] = ProtoField.uint8("silbops.channel.magic", "magic", base.HEX)
f["channel.kind"] = ProtoField.uint8("silbops.channel.kind", "kind", base.DEC, KINDS)
f["channel.room"] = ProtoField.uint16("silbops.channel.room", "room (records)")
f["channel.to"] = ProtoField.uint64("silbops.channel.to", "to", base.HEX)
f["channel.seq"] = ProtoField.uint32("silbops.channel.seq", "seq")
f["channel.ack"] = ProtoField.uint32("silbops.channel.ack", "ack")
f["channel.sack"] = ProtoField.uint64("silbops.channel.sack", "sack", base.HEX)
f["channel.number"] = ProtoField.uint64("silbops.channel.number", "incarnation or nonce", base.HEX)
f["channel.id"] = ProtoField.string("silbops.channel.id", "id")
f["channel.padding"] = ProtoField.bytes("silbops.channel.padding", "padding")
f["channel.length"] = ProtoField.uint16("silbops.channel.length", "length of record")
f["channel.part"] = ProtoField.bytes("silbops.channel.part", "part of a message")

local listed = {}
for _, field in pairs(f) do table.insert(listed, field) end
proto.fields = listed
proto.experts = { wrong }
proto.prefs.ports = Pref.range("UDP ports", "", "Ports whose datagrams are always read as SilboPS's", 65535)

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
  pinfo.cols.protocol = "SilboPS"
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
