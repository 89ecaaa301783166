-- Datagrams of ContextNet's transport for Wireshark and tshark, field by field. Generated: do not edit.
--
-- Put this file into the folder "Personal Lua Plugins" (Help, About Wireshark, Folders), or name it once:
--   tshark -X lua_script:contextnet.lua -r run.pcapng
-- A datagram is known by its first byte, its length and its zeros as far as it has any; the first one of a
-- conversation is a HELLO, by which its port is known from then on. A range of ports that is always read so, and the
-- bytes of a tag, are preferences. Tags are not checked.

local proto = Proto("contextnet", "Tether")
local VERSION, PROOF = 1, 16
local TAG = -1 -- as the preference says

-- Type, name, and fields as name:adder:size or with :echo where it is present with that flag; bytes at the end.
local FRAMES = {
  [1] = {"HELLO", "node:bytes:16 epoch:number:4 nonce:bytes:16 resume_cid:number:8 cookie:cookie:20 wants:number:2 padding:zeros:0 proof:last:16", PROOF},
  [2] = {"RETRY", "nonce:bytes:16 cookie:bytes:20", 0},
  [3] = {"ACCEPT", "cid:number:8 server_nonce:bytes:16 client_nonce:bytes:16 resumed:number:1 expected:number:4 idle_s:number:2 ack_delay_ms:number:2 window:number:1 rto_min_ms:number:2 max_message:number:4 reset_token:bytes:16 next_cookie:bytes:20 gateways:addresses:0 proof:last:16", PROOF},
  [4] = {"REFUSE", "nonce:bytes:16 refuse_code:number:1 retry_after_s:number:2 epoch:number:4 gateways:addresses:0 proof:last:16", PROOF},
  [5] = {"DATA", "flags:number:1 cid:number:8 number:number:4 ack:number:4 sack:number:4 echo:number:4:echo held_us:number:4:echo sequence:number:4 fragment:number:1 fragments:number:1 kind:number:1 part:rest:0 tag:last:8", TAG},
  [6] = {"ACK", "flags:number:1 cid:number:8 number:number:4 ack:number:4 sack:number:4 echo:number:4:echo held_us:number:4:echo tag:last:8", TAG},
  [7] = {"PING", "flags:number:1 cid:number:8 number:number:4 ack:number:4 sack:number:4 echo:number:4:echo held_us:number:4:echo value:number:8 tag:last:8", TAG},
  [8] = {"PONG", "flags:number:1 cid:number:8 number:number:4 ack:number:4 sack:number:4 echo:number:4:echo held_us:number:4:echo value:number:8 tag:last:8", TAG},
  [9] = {"PATH_CHALLENGE", "flags:number:1 cid:number:8 number:number:4 ack:number:4 sack:number:4 echo:number:4:echo held_us:number:4:echo path_data:bytes:8 tag:last:8", TAG},
  [10] = {"PATH_RESPONSE", "flags:number:1 cid:number:8 number:number:4 ack:number:4 sack:number:4 echo:number:4:echo held_us:number:4:echo path_data:bytes:8 tag:last:8", TAG},
  [11] = {"CLOSE", "flags:number:1 cid:number:8 number:number:4 ack:number:4 sack:number:4 echo:number:4:echo held_us:number:4:echo close_reason:number:1 tag:last:8", TAG},
  [12] = {"RESET", "cid:number:8 token:bytes:16", 0},
}
local WORDS = {
  ["resumed"] = { [0] = "no", [1] = "yes" },
  ["refuse_code"] = { [1] = "secret", [2] = "full", [3] = "busy", [4] = "version", [5] = "epoch" },
  ["kind"] = { [1] = "message", [2] = "gateway list", [3] = "hand over", [4] = "context" },
  ["close_reason"] = { [1] = "done", [2] = "moved", [3] = "idle", [4] = "superseded", [5] = "shutting down", [6] = "protocol" },
}
local f = {
  ["node"] = ProtoField.bytes("contextnet.node", "node"),
  ["epoch"] = ProtoField.uint32("contextnet.epoch", "epoch"),
  ["nonce"] = ProtoField.bytes("contextnet.nonce", "nonce"),
  ["resume_cid"] = ProtoField.uint64("contextnet.resume_cid", "resume_cid"),
  ["cookie"] = ProtoField.bytes("contextnet.cookie", "cookie"),
  ["wants"] = ProtoField.uint16("contextnet.wants", "wants"),
  ["padding"] = ProtoField.bytes("contextnet.padding", "padding"),
  ["proof"] = ProtoField.bytes("contextnet.proof", "proof"),
  ["cid"] = ProtoField.uint64("contextnet.cid", "cid"),
  ["server_nonce"] = ProtoField.bytes("contextnet.server_nonce", "server_nonce"),
  ["client_nonce"] = ProtoField.bytes("contextnet.client_nonce", "client_nonce"),
  ["resumed"] = ProtoField.uint8("contextnet.resumed", "resumed", base.DEC, WORDS["resumed"]),
  ["expected"] = ProtoField.uint32("contextnet.expected", "expected"),
  ["idle_s"] = ProtoField.uint16("contextnet.idle_s", "idle_s"),
  ["ack_delay_ms"] = ProtoField.uint16("contextnet.ack_delay_ms", "ack_delay_ms"),
  ["window"] = ProtoField.uint8("contextnet.window", "window"),
  ["rto_min_ms"] = ProtoField.uint16("contextnet.rto_min_ms", "rto_min_ms"),
  ["max_message"] = ProtoField.uint32("contextnet.max_message", "max_message"),
  ["reset_token"] = ProtoField.bytes("contextnet.reset_token", "reset_token"),
  ["next_cookie"] = ProtoField.bytes("contextnet.next_cookie", "next_cookie"),
  ["refuse_code"] = ProtoField.uint8("contextnet.refuse_code", "code", base.DEC, WORDS["refuse_code"]),
  ["retry_after_s"] = ProtoField.uint16("contextnet.retry_after_s", "retry_after_s"),
  ["flags"] = ProtoField.uint8("contextnet.flags", "flags"),
  ["number"] = ProtoField.uint32("contextnet.number", "number"),
  ["ack"] = ProtoField.uint32("contextnet.ack", "ack"),
  ["sack"] = ProtoField.uint32("contextnet.sack", "sack"),
  ["echo"] = ProtoField.uint32("contextnet.echo", "echo"),
  ["held_us"] = ProtoField.uint32("contextnet.held_us", "held_us"),
  ["sequence"] = ProtoField.uint32("contextnet.sequence", "sequence"),
  ["fragment"] = ProtoField.uint8("contextnet.fragment", "fragment"),
  ["fragments"] = ProtoField.uint8("contextnet.fragments", "fragments"),
  ["kind"] = ProtoField.uint8("contextnet.kind", "kind", base.DEC, WORDS["kind"]),
  ["part"] = ProtoField.bytes("contextnet.part", "part"),
  ["tag"] = ProtoField.bytes("contextnet.tag", "tag"),
  ["value"] = ProtoField.uint64("contextnet.value", "value"),
  ["path_data"] = ProtoField.bytes("contextnet.path_data", "data"),
  ["close_reason"] = ProtoField.uint8("contextnet.close_reason", "reason", base.DEC, WORDS["close_reason"]),
  ["token"] = ProtoField.bytes("contextnet.token", "token"),
}

local names = {}
for code, frame in pairs(FRAMES) do names[code] = frame[1] end

f["#version"] = ProtoField.uint8("contextnet.version", "version", base.DEC, nil, 0xf0)
f["#type"] = ProtoField.uint8("contextnet.type", "type", base.DEC, names, 0x0f)
f["#busy"] = ProtoField.bool("contextnet.flags.busy", "BUSY", 8, nil, 1)
f["#ack_now"] = ProtoField.bool("contextnet.flags.ack_now", "ACK_NOW", 8, nil, 2)
f["#probe"] = ProtoField.bool("contextnet.flags.probe", "PROBE", 8, nil, 4)
f["#echo"] = ProtoField.bool("contextnet.flags.echo", "ECHO", 8, nil, 8)
f["#count"] = ProtoField.uint8("contextnet.count", "number of gateways")
f["#length"] = ProtoField.uint8("contextnet.cookie_length", "cookie length")
f["#ipv4"] = ProtoField.ipv4("contextnet.gateway.ipv4", "gateway")
f["#ipv6"] = ProtoField.ipv6("contextnet.gateway.ipv6", "gateway")
f["#port"] = ProtoField.uint16("contextnet.gateway.port", "port")
local listed = {}
for _, field in pairs(f) do table.insert(listed, field) end
proto.fields = listed

local wrong = ProtoExpert.new("contextnet.wrong", "Not a datagram that is read", expert.group.MALFORMED, expert.severity.ERROR)
proto.experts = { wrong }
proto.prefs.ports = Pref.range("UDP ports", "", "Ports whose datagrams are always read as Tether's", 65535)
proto.prefs.tag = Pref.uint("Bytes of a tag", 8, "8, or 16 where the setting tag_bytes is 16")

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
  pinfo.cols.protocol = "Tether"
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
