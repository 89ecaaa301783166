-- Messages of Radiator for Wireshark and tshark, field by field. Generated from the table of messages: do not edit.
--
-- Put this file into the folder "Personal Lua Plugins" (Help, About Wireshark, Folders), or name it once:
--   tshark -X lua_script:radiator.lua -r run.pcapng
-- Messages are known by their first bytes whatever their port; a range of ports that is always read so is a preference.
-- Rules on several fields together are the parser's alone.

local proto = Proto("radiator", "Radiator")
local MAGIC = "\82\68\1"

-- Kind, name, and fields as name:type:size:abbreviation, or with :field=value where it is present only with that value.
local MESSAGES = {
  [1] = {"Register", "req:number:4:req instance:number:8:instance token:number:8:token flags:number:1:flags id:text:1:id attributes:json:2:attributes"},
  [2] = {"Registered", "req:number:4:req code:number:1:registered.code epoch:number:8:epoch key:bytes:16:key:code=0 token:number:8:token:code=4"},
  [3] = {"Unregister", "req:number:4:req instance:number:8:instance id:text:1:id"},
  [4] = {"Unregistered", "req:number:4:req code:number:1:unregistered.code"},
  [5] = {"Context", "req:number:4:req instance:number:8:instance called_at:moment:8:called_at codec:number:1:codec body:rest:0:body"},
  [6] = {"Accepted", "req:number:4:req code:number:1:accepted.code retry_ms:number:2:retry_ms"},
  [7] = {"Push", "epoch:number:8:epoch propagation:number:8:propagation chain:number:2:chain position:number:2:position length:number:2:length attempt:number:2:attempt codec:number:1:codec segment:number:2:segment segments:number:2:segments mac:bytes:8:mac part:rest:0:part"},
  [8] = {"Ack", "epoch:number:8:epoch propagation:number:8:propagation chain:number:2:chain attempt:number:2:attempt base:number:2:base bitmap:bytes:32:bitmap"},
  [9] = {"Failed", "epoch:number:8:epoch propagation:number:8:propagation chain:number:2:chain attempt:number:2:attempt position:number:2:position instance:number:8:instance"},
  [10] = {"Done", "epoch:number:8:epoch propagation:number:8:propagation chain:number:2:chain attempt:number:2:attempt position:number:2:position instance:number:8:instance"},
  [11] = {"Progress", "epoch:number:8:epoch propagation:number:8:propagation chain:number:2:chain attempt:number:2:attempt position:number:2:position instance:number:8:instance"},
  [12] = {"Noted", "epoch:number:8:epoch propagation:number:8:propagation chain:number:2:chain attempt:number:2:attempt position:number:2:position instance:number:8:instance kind:number:1:noted.kind"},
  [13] = {"Alive", "instance:number:8:instance"},
  [14] = {"RegisterAgain", "epoch:number:8:epoch"},
  [15] = {"Inspect", "req:number:4:req token:number:8:token subject:number:1:subject clients:number:1:clients offset:number:4:offset limit:number:2:limit padding:rest:0:padding"},
  [16] = {"Inspected", "req:number:4:req code:number:1:inspected.code token:number:8:token:code=1 body:rest:0:body:code=0"},
}
local WORDS = {
  ["flags"] = { [0] = "the server", [1] = "other clients, too", [3] = "other clients by HTTP only, too" },
  ["registered.code"] = { [0] = "ok", [1] = "collision", [2] = "full", [3] = "malformed", [4] = "repeat with this token" },
  ["unregistered.code"] = { [0] = "ok", [1] = "collision", [2] = "full", [3] = "malformed", [4] = "repeat with this token" },
  ["codec"] = { [0] = "none", [1] = "gzip", [2] = "dictionary" },
  ["accepted.code"] = { [0] = "ok", [1] = "unknown client", [2] = "busy", [3] = "malformed", [4] = "too large", [5] = "over its share" },
  ["noted.kind"] = { [9] = "failed", [10] = "done", [11] = "progress" },
  ["subject"] = { [0] = "figures", [1] = "clients", [2] = "pending" },
  ["clients"] = { [0] = "all", [1] = "reachable ones", [2] = "unreachable ones" },
  ["inspected.code"] = { [0] = "ok", [1] = "repeat with this token", [2] = "only programs on the server's host are answered" },
}
local f = {
  ["req"] = ProtoField.uint32("radiator.req", "req"),
  ["instance"] = ProtoField.uint64("radiator.instance", "instance"),
  ["token"] = ProtoField.uint64("radiator.token", "token"),
  ["flags"] = ProtoField.uint8("radiator.flags", "flags", base.DEC, WORDS["flags"]),
  ["id"] = ProtoField.string("radiator.id", "id"),
  ["attributes"] = ProtoField.string("radiator.attributes", "attributes"),
  ["registered.code"] = ProtoField.uint8("radiator.registered.code", "code", base.DEC, WORDS["registered.code"]),
  ["epoch"] = ProtoField.uint64("radiator.epoch", "epoch"),
  ["key"] = ProtoField.bytes("radiator.key", "key"),
  ["unregistered.code"] = ProtoField.uint8("radiator.unregistered.code", "code", base.DEC, WORDS["unregistered.code"]),
  ["called_at"] = ProtoField.absolute_time("radiator.called_at", "called_at", base.UTC),
  ["codec"] = ProtoField.uint8("radiator.codec", "codec", base.DEC, WORDS["codec"]),
  ["body"] = ProtoField.bytes("radiator.body", "body"),
  ["accepted.code"] = ProtoField.uint8("radiator.accepted.code", "code", base.DEC, WORDS["accepted.code"]),
  ["retry_ms"] = ProtoField.uint16("radiator.retry_ms", "retry_ms"),
  ["propagation"] = ProtoField.uint64("radiator.propagation", "propagation"),
  ["chain"] = ProtoField.uint16("radiator.chain", "chain"),
  ["position"] = ProtoField.uint16("radiator.position", "position"),
  ["length"] = ProtoField.uint16("radiator.length", "length (clients)"),
  ["attempt"] = ProtoField.uint16("radiator.attempt", "attempt"),
  ["segment"] = ProtoField.uint16("radiator.segment", "segment"),
  ["segments"] = ProtoField.uint16("radiator.segments", "segments"),
  ["mac"] = ProtoField.bytes("radiator.mac", "mac"),
  ["part"] = ProtoField.bytes("radiator.part", "part"),
  ["base"] = ProtoField.uint16("radiator.base", "base"),
  ["bitmap"] = ProtoField.bytes("radiator.bitmap", "bitmap"),
  ["noted.kind"] = ProtoField.uint8("radiator.noted.kind", "kind", base.DEC, WORDS["noted.kind"]),
  ["subject"] = ProtoField.uint8("radiator.subject", "subject", base.DEC, WORDS["subject"]),
  ["clients"] = ProtoField.uint8("radiator.clients", "clients", base.DEC, WORDS["clients"]),
  ["offset"] = ProtoField.uint32("radiator.offset", "offset"),
  ["limit"] = ProtoField.uint16("radiator.limit", "limit"),
  ["padding"] = ProtoField.bytes("radiator.padding", "padding"),
  ["inspected.code"] = ProtoField.uint8("radiator.inspected.code", "code", base.DEC, WORDS["inspected.code"]),
}

local names = {}
for code, message in pairs(MESSAGES) do names[code] = message[1] end

f["#magic"] = ProtoField.bytes("radiator.magic", "magic")
f["#kind"] = ProtoField.uint8("radiator.kind", "kind", base.DEC, names)
f["#length"] = ProtoField.uint16("radiator.text_length", "length of text")
local listed = {}
for _, field in pairs(f) do table.insert(listed, field) end
proto.fields = listed

local wrong = ProtoExpert.new("radiator.wrong", "Not a message that is read", expert.group.MALFORMED, expert.severity.ERROR)
proto.experts = { wrong }
proto.prefs.ports = Pref.range("UDP ports", "", "Ports whose datagrams are always read as Radiator's", 65535)

local function say_wrong(tree, words) tree:add_proto_expert_info(wrong, words) end

-- ---- fields: each adder gives the bytes that it took, and the value as text; or nil for what is cut off

local function number(buffer, at, size, field, tree)
  if at + size > buffer:len() then return nil end
  local range = buffer(at, size)
  local value = size == 8 and tostring(range:uint64()) or tostring(range:uint())
  tree:add(field, range)
  return size, value
end

local function moment(buffer, at, size, field, tree)
  if at + size > buffer:len() then return nil end
  local range = buffer(at, size)
  local ns = range:uint64()
  local second = UInt64.new(1000000000)
  tree:add(field, range, NSTime.new((ns / second):tonumber(), (ns % second):tonumber()))
  return size, tostring(ns)
end

local function bytes(buffer, at, size, field, tree)
  if at + size > buffer:len() then return nil end
  tree:add(field, buffer(at, size))
  return size, nil
end

-- What comes after its length, which has size bytes.
local function sized(buffer, at, size, field, tree)
  if at + size > buffer:len() then return nil end
  local length = buffer(at, size):uint()
  if at + size + length > buffer:len() then return nil end
  tree:add(f["#length"], buffer(at, size))
  if length == 0 then
    say_wrong(tree, "A text is empty")
    return size, nil
  end
  tree:add(field, buffer(at + size, length))
  return size + length, buffer(at + size, length):string(ENC_UTF_8)
end

local function inflated(range)
  if range:len() < 18 or range(0, 2):uint() ~= 0x1f8b then return range end
  for _, name in ipairs({ "uncompress_zlib", "uncompress" }) do
    local is_done, found = pcall(function() return range[name](range, "Inflated") end)
    if is_done and found then return found end
  end
  return range
end

local function rest(buffer, at, size, field, tree, pinfo)
  local left = buffer:len() - at
  if left == 0 then return 0, nil end
  local branch = tree:add(field, buffer(at, left))
  local content = inflated(buffer(at, left))
  if content:len() > 0 and content(0, 1):string():match("[%[{]") then
    pcall(function() Dissector.get("json"):call(content:tvb(), pinfo, branch) end)
  end
  return left, nil
end

local ADDERS = { number = number, moment = moment, bytes = bytes, text = sized, json = sized, rest = rest }

-- ---- messages

local function is_present(condition, values)
  local name, value = condition:match("^(.-)=(.*)$")
  return name == nil or values[name] == value
end

-- What the fields say, for the list of packets.
local function add_fields(buffer, at, specification, tree, pinfo)
  local values, said = {}, ""
  for name, kind, size, abbreviation, condition in specification:gmatch("(%S-):(%a+):(%d+):([%w_.]+):?(%S*)") do
    if is_present(condition, values) then
      local taken, value = ADDERS[kind](buffer, at, tonumber(size), f[abbreviation], tree, pinfo)
      if not taken then
        say_wrong(tree, name .. " is missing or cut off")
        return said, buffer:len()
      end
      if WORDS[abbreviation] and not WORDS[abbreviation][tonumber(value)] then
        say_wrong(tree, name .. " must not be " .. value)
      end
      at = at + taken
      values[name] = value
      if value and #value <= 40 then said = said .. "  " .. name .. "=" .. value end
    end
  end
  return said, at
end

-- The name of the message and what its fields say, or nil.
local function dissect(buffer, tree, pinfo)
  local head = #MAGIC
  if buffer:len() <= head or buffer(0, head):raw() ~= MAGIC then
    say_wrong(tree, "Not the beginning of a message")
    return nil
  end
  tree:add(f["#magic"], buffer(0, head))
  tree:add(f["#kind"], buffer(head, 1))
  local message = MESSAGES[buffer(head, 1):uint()]
  if not message then
    say_wrong(tree, "No message has this kind")
    return nil
  end
  local said, at = add_fields(buffer, head + 1, message[2], tree, pinfo)
  if at < buffer:len() then say_wrong(tree, buffer:len() - at .. " bytes more than this message has") end
  return message[1], said
end

function proto.dissector(buffer, pinfo, tree)
  if buffer:len() == 0 then return 0 end
  local root = tree:add(proto, buffer())
  local name, said = dissect(buffer, root, pinfo)
  pinfo.cols.protocol = "Radiator"
  pinfo.cols.info = (name or "unreadable") .. (said or ""):gsub("[^%g ]", "."):sub(1, 160)
  if name then root:append_text(", " .. name) end
  return buffer:len()
end

local function is_ours(buffer)
  local head = #MAGIC
  return buffer:len() > head and buffer(0, head):raw() == MAGIC and MESSAGES[buffer(head, 1):uint()] ~= nil
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
