-- Datagrams of ContextNet's transport for Wireshark and tshark, field by field. Generated: do not edit.
--
-- Put this file into the folder "Personal Lua Plugins" (Help, About Wireshark, Folders), or name it once:
--   tshark -X lua_script:@KEY@.lua -r run.pcapng
-- A datagram is known by its first byte, its length and its zeros as far as it has any; the first one of a
-- conversation is a HELLO, by which its port is known from then on. A range of ports that is always read so, and the
-- bytes of a tag, are preferences. Tags are not checked.

local proto = Proto("@KEY@", "@TITLE@")
local VERSION, PROOF = @VERSION@, @PROOF@
local TAG = -1 -- as the preference says

-- Type, name, and fields as name:adder:size or with :echo where it is present with that flag; bytes at the end.
local FRAMES = {
@FRAMES@
}
local WORDS = {
@WORDS@
}
local f = {
@FIELDS@
}

local names = {}
for code, frame in pairs(FRAMES) do names[code] = frame[1] end

f["#version"] = ProtoField.uint8("@KEY@.version", "version", base.DEC, nil, 0xf0)
f["#type"] = ProtoField.uint8("@KEY@.type", "type", base.DEC, names, 0x0f)
f["#busy"] = ProtoField.bool("@KEY@.flags.busy", "BUSY", 8, nil, 1)
f["#ack_now"] = ProtoField.bool("@KEY@.flags.ack_now", "ACK_NOW", 8, nil, 2)
f["#probe"] = ProtoField.bool("@KEY@.flags.probe", "PROBE", 8, nil, 4)
f["#echo"] = ProtoField.bool("@KEY@.flags.echo", "ECHO", 8, nil, 8)
f["#count"] = ProtoField.uint8("@KEY@.count", "number of gateways")
f["#length"] = ProtoField.uint8("@KEY@.cookie_length", "cookie length")
f["#ipv4"] = ProtoField.ipv4("@KEY@.gateway.ipv4", "gateway")
f["#ipv6"] = ProtoField.ipv6("@KEY@.gateway.ipv6", "gateway")
f["#port"] = ProtoField.uint16("@KEY@.gateway.port", "port")
local listed = {}
for _, field in pairs(f) do table.insert(listed, field) end
proto.fields = listed

local wrong = ProtoExpert.new("@KEY@.wrong", "Not a datagram that is read", expert.group.MALFORMED, expert.severity.ERROR)
proto.experts = { wrong }
proto.prefs.ports = Pref.range("UDP ports", "", "Ports whose datagrams are always read as @TITLE@'s", 65535)
proto.prefs.tag = Pref.uint("Bytes of a tag", @TAG@, "8, or 16 where the setting tag_bytes is 16")

local function say_wrong(tree, words) tree:add_proto_expert_info(wrong, words) end

-- ---- fields: each adder gives the bytes that it took, and the value as text; or nil for what is cut off

local function number(buffer, at, last, size, name, tree)
  if at + size > last then return nil end
  local range = buffer(at, size)
  local branch = tree:add(f[name], range)
  if name == "flags" then
    for _, flag in ipairs({ "#busy", "#ack_now", "#probe", "#echo" }) do branch:add(f[flag], range) end
  end
  return size, size == 8 and tostring(range:uint64()) or tostring(range:uint())
end

local function bytes(buffer, at, last, size, name, tree)
  if at + size > last then return nil end
  tree:add(f[name], buffer(at, size))
  return size
end

local function cookie(buffer, at, last, size, name, tree)
  if at >= last then return nil end
  local length = buffer(at, 1):uint()
  tree:add(f["#length"], buffer(at, 1))
  if length == 0 then return 1 end
  if length ~= size or at + 1 + length > last then return nil end
  tree:add(f[name], buffer(at + 1, length))
  return 1 + length
end

local function addresses(buffer, at, last, _, _, tree)
  if at >= last then return nil end
  local count, begin = buffer(at, 1):uint(), at
  tree:add(f["#count"], buffer(at, 1))
  at = at + 1
  for _ = 1, count do
    if at >= last then return nil end
    local size = ({ [4] = 4, [6] = 16 })[buffer(at, 1):uint()]
    if not size or at + size + 3 > last then return nil end
    tree:add(size == 4 and f["#ipv4"] or f["#ipv6"], buffer(at + 1, size))
    tree:add(f["#port"], buffer(at + 1 + size, 2))
    at = at + size + 3
  end
  return at - begin
end

local function zeros(buffer, at, last, _, name, tree)
  local left = last - at
  if left < 0 then return nil end
  if left == 0 then return 0 end
  tree:add(f[name], buffer(at, left))
  if buffer(at, left):raw():find("[^%z]") then say_wrong(tree, "The padding is not zero") end
  return left
end

local function rest(buffer, at, last, _, name, tree)
  if at >= last then return nil end
  tree:add(f[name], buffer(at, last - at))
  return last - at
end

local function last_bytes(buffer, at, _, _, name, tree)
  local left = buffer:len() - at
  if left <= 0 then return nil end
  tree:add(f[name], buffer(at, left))
  return left
end

local ADDERS = { number = number, bytes = bytes, cookie = cookie, addresses = addresses, zeros = zeros, rest = rest, last = last_bytes }

-- ---- datagrams

local function size_at_end(frame)
  return frame[3] == TAG and proto.prefs.tag or frame[3]
end

-- What the fields say, for the list of packets.
local function add_fields(buffer, frame, tree)
  local at, said, has_echo = 1, "", false
  local last = buffer:len() - size_at_end(frame)
  for name, adder, size, only in frame[2]:gmatch("([%w_]+):(%a+):(%d+):?(%a*)") do
    if only == "" or has_echo then
      local taken, value = ADDERS[adder](buffer, at, last, tonumber(size), name, tree)
      if not taken then
        say_wrong(tree, name .. " is missing or cut off")
        return said, buffer:len()
      end
      if WORDS[name] and value and not WORDS[name][tonumber(value)] then say_wrong(tree, name .. " must not be " .. value) end
      if name == "flags" then has_echo = math.floor(tonumber(value) / 8) % 2 == 1 end
      at = at + taken
      if value and name ~= "cid" then said = said .. "  " .. name .. "=" .. (WORDS[name] and WORDS[name][tonumber(value)] or value) end
    end
  end
  return said, at
end

local function frame_of(buffer)
  if buffer:len() == 0 then return nil end
  local first = buffer(0, 1):uint()
  return math.floor(first / 16) == VERSION and FRAMES[first % 16] or nil
end

function proto.dissector(buffer, pinfo, tree)
  if buffer:len() == 0 then return 0 end
  local root = tree:add(proto, buffer())
  root:add(f["#version"], buffer(0, 1))
  root:add(f["#type"], buffer(0, 1))
  pinfo.cols.protocol = "@TITLE@"
  local frame = frame_of(buffer)
  if not frame then
    say_wrong(root, "No version or type of a datagram")
    pinfo.cols.info = "unreadable"
    return buffer:len()
  end
  local said, at = add_fields(buffer, frame, root)
  if at < buffer:len() then say_wrong(root, buffer:len() - at .. " bytes more than this datagram has") end
  pinfo.cols.info = frame[1] .. said
  root:append_text(", " .. frame[1])
  return buffer:len()
end

-- A HELLO has 256 bytes, of which those before the proof are zeros.
local function is_hello(buffer)
  return buffer:len() == 256 and buffer(0, 1):uint() == VERSION * 16 + 1 and not buffer(80, 160):raw():find("[^%z]")
end

proto:register_heuristic("udp", function(buffer, pinfo, tree)
  if not is_hello(buffer) then return false end
  pinfo.conversation = proto
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
