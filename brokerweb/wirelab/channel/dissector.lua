-- Messages of @TITLE@ for Wireshark and tshark, and the datagrams of the channel that carry them. Generated: do not edit.
--
-- Put this file into the folder "Personal Lua Plugins" (Help, About Wireshark, Folders), or name it once:
--   tshark -X lua_script:@KEY@.lua -r run.pcapng
-- Datagrams are known by their first bytes whatever their port; a range of ports that is always read so is a preference.
-- A message in several records is joined where all of them are in the capture.

local proto = Proto("@KEY@", "@TITLE@")
local wrong = ProtoExpert.new("@KEY@.wrong", "Not a message that is read", expert.group.MALFORMED, expert.severity.ERROR)
local f = {}
local function say_wrong(tree, words) tree:add_proto_expert_info(wrong, words) end

-- ---- messages: read(tvb, tree) gives what one says, for the list of packets, or nil for none

@MESSAGES@

-- ---- the channel

local KINDS = { @KINDS@ }
local BODIES = {
@BODIES@
}
local HEAD = 28
local DATA = @DATA@

f["channel.magic"] = ProtoField.uint8("@KEY@.channel.magic", "magic", base.HEX)
f["channel.kind"] = ProtoField.uint8("@KEY@.channel.kind", "kind", base.DEC, KINDS)
f["channel.room"] = ProtoField.uint16("@KEY@.channel.room", "room (records)")
f["channel.to"] = ProtoField.uint64("@KEY@.channel.to", "to", base.HEX)
f["channel.seq"] = ProtoField.uint32("@KEY@.channel.seq", "seq")
f["channel.ack"] = ProtoField.uint32("@KEY@.channel.ack", "ack")
f["channel.sack"] = ProtoField.uint64("@KEY@.channel.sack", "sack", base.HEX)
f["channel.number"] = ProtoField.uint64("@KEY@.channel.number", "incarnation or nonce", base.HEX)
f["channel.id"] = ProtoField.string("@KEY@.channel.id", "id")
f["channel.padding"] = ProtoField.bytes("@KEY@.channel.padding", "padding")
f["channel.length"] = ProtoField.uint16("@KEY@.channel.length", "length of record")
f["channel.part"] = ProtoField.bytes("@KEY@.channel.part", "part of a message")

local listed = {}
for _, field in pairs(f) do table.insert(listed, field) end
proto.fields = listed
proto.experts = { wrong }
proto.prefs.ports = Pref.range("UDP ports", "", "Ports whose datagrams are always read as @TITLE@'s", 65535)

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
  pinfo.cols.protocol = "@TITLE@"
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
