-- Messages of @TITLE@ for Wireshark and tshark, field by field. Generated from the table of messages: do not edit.
--
-- Put this file into the folder "Personal Lua Plugins" (Help, About Wireshark, Folders), or name it once:
--   tshark -X lua_script:@KEY@.lua -r run.pcapng
-- Messages are known by their first bytes whatever their port; a range of ports that is always read so is a preference.
-- Rules on several fields together are the parser's alone.

local proto = Proto("@KEY@", "@TITLE@")
local MAGIC = "@MAGIC@"

-- Kind, name, and fields as name:type:size:abbreviation, or with :field=value where it is present only with that value.
local MESSAGES = {
@MESSAGES@
}
local WORDS = {
@WORDS@
}
local f = {
@FIELDS@
}

local names = {}
for code, message in pairs(MESSAGES) do names[code] = message[1] end

f["#magic"] = ProtoField.bytes("@KEY@.magic", "magic")
f["#kind"] = ProtoField.uint8("@KEY@.kind", "kind", base.DEC, names)
f["#length"] = ProtoField.uint16("@KEY@.text_length", "length of text")
local listed = {}
for _, field in pairs(f) do table.insert(listed, field) end
proto.fields = listed

local wrong = ProtoExpert.new("@KEY@.wrong", "Not a message that is read", expert.group.MALFORMED, expert.severity.ERROR)
proto.experts = { wrong }
proto.prefs.ports = Pref.range("UDP ports", "", "Ports whose datagrams are always read as @TITLE@'s", 65535)

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
  pinfo.cols.protocol = "@TITLE@"
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
