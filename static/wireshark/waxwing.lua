-- Waxwing's broker protocol for Wireshark and tshark: every message, field by field.
--
-- Put this file into the folder "Personal Lua Plugins" (Help, About Wireshark, Folders), or name it once:
--   tshark -X lua_script:waxwing.lua -r run.pcapng
-- Messages are known by their form whatever their port; a range of ports that is always read so is a preference.

local waxwing = Proto("waxwing", "Waxwing Context Broker")

-- Begin: generated from the table of messages (docs/wire.md says how).
-- Code, name, fields behind the code (name:kind), and what may follow them.
local MESSAGES = {
  [0] = {"StartNeighborsMonitoring", "timestamp:time", "nothing"},
  [1] = {"Ping", "timestamp:time", "nothing"},
  [2] = {"ContextUpdateAdvertisement", "timestamp:time payload_size:size flag:flag provider_id:name entity_type:name entity_id:name scope:name valid_begin:time valid_end:time payload:payload", "nothing"},
  [3] = {"ContextRequest", "timestamp:time entity_type:name entity_id:name scope:name", "hops"},
  [4] = {"ContextResponse", "timestamp:time payload_size:size provider_id:name entity_type:name entity_id:name scope:name valid_begin:time valid_end:time payload:payload", "marked hops"},
  [5] = {"Ack", "timestamp:time word:word status:ack_status operation:operation requested_by:requester", "nothing"},
  [6] = {"Nack", "timestamp:time word:word status:nack_status operation:operation requested_by:requester", "hops"},
  [7] = {"BrokerLeaving", "timestamp:time", "star"},
  [8] = {"BrokerJoining", "timestamp:time", "addresses and a star"},
  [9] = {"PingResponse", "timestamp:time word:word broker_address:address", "nothing"},
  [16] = {"Lookahead", "timestamp:time ttl:ttl entity_type:name entity_id:name scope:name", "hops"},
  [17] = {"BrokerGone", "timestamp:time ttl:ttl address:address", "nothing"},
  [18] = {"NeighborsRequest", "timestamp:time", "nothing"},
  [19] = {"NeighborsResponse", "timestamp:time", "addresses"},
  [20] = {"StatsRequest", "timestamp:time", "nothing"},
  [21] = {"StatsResponse", "timestamp:time counters:counters", "nothing"},
  [22] = {"HopData", "timestamp:time sequence:integer message:message", "nothing"},
  [23] = {"HopAck", "timestamp:time sequence:integer", "nothing"},
  [24] = {"IndirectPing", "timestamp:time address:address", "nothing"},
  [25] = {"IndirectPingResponse", "timestamp:time address:address", "nothing"},
  [26] = {"FindBrokers", "timestamp:time target:target", "star"},
  [27] = {"ClosestBrokers", "timestamp:time target:target", "addresses"},
  [28] = {"FindData", "timestamp:time entity_type:name entity_id:name scope:name", "nothing"},
  [29] = {"DataFound", "timestamp:time payload_size:size provider_id:name entity_type:name entity_id:name scope:name valid_begin:time valid_end:time payload:payload", "addresses"},
  [30] = {"StoreData", "timestamp:time payload_size:size provider_id:name entity_type:name entity_id:name scope:name valid_begin:time valid_end:time payload:payload", "nothing"},
  [31] = {"DataStored", "timestamp:time provider_id:name entity_type:name entity_id:name scope:name", "nothing"},
  [32] = {"QuietRequest", "timestamp:time entity_type:name entity_id:name scope:name", "hops"},
  [33] = {"ReplicaRefresh", "timestamp:time payload_size:size provider_id:name entity_type:name entity_id:name scope:name valid_begin:time valid_end:time payload:payload", "nothing"},
  [34] = {"ReplicaConfirm", "timestamp:time provider_id:name entity_type:name entity_id:name scope:name stored:time", "nothing"},
  [35] = {"FeedRequest", "timestamp:time epoch:integer after:integer wait_ms:integer most_bytes:integer", "nothing"},
  [36] = {"FeedResponse", "timestamp:time epoch:integer after:integer next:integer last:integer", "records"},
  [37] = {"Withdraw", "timestamp:time provider_id:name entity_type:name entity_id:name scope:name until:time", "nothing"},
  [38] = {"BrokersRequest", "timestamp:time most:integer", "nothing"},
  [39] = {"BrokersResponse", "timestamp:time epoch:integer load_per_s:integer", "addresses"},
}
local STATUSES = { [101] = "REQ_RECEIVED", [102] = "REQ_PROCESSED", [201] = "I_ERROR", [202] = "DATA_NOT_FOUND", [301] = "BAD_REQUEST" }
local PREFIXES = { ack_status = "Status:", nack_status = "Status:", operation = "Operation ", requester = "Requested by " }
local MOST_DIGITS, MOST_PAYLOAD, MOST_TTL = 19, 60000, 255
local f = {
  timestamp = ProtoField.absolute_time("waxwing.timestamp", "Timestamp", base.UTC),
  payload_size = ProtoField.uint32("waxwing.payload_size", "PayloadSize"),
  flag = ProtoField.string("waxwing.flag", "Flag"),
  provider_id = ProtoField.string("waxwing.provider_id", "ProviderID"),
  entity_type = ProtoField.string("waxwing.entity_type", "EntityType"),
  entity_id = ProtoField.string("waxwing.entity_id", "EntityID"),
  scope = ProtoField.string("waxwing.scope", "Scope"),
  valid_begin = ProtoField.absolute_time("waxwing.valid_begin", "ValidBegin", base.UTC),
  valid_end = ProtoField.absolute_time("waxwing.valid_end", "ValidEnd", base.UTC),
  payload = ProtoField.string("waxwing.payload", "Payload"),
  word = ProtoField.string("waxwing.word", "Word"),
  status = ProtoField.uint32("waxwing.status", "Status", base.DEC, STATUSES),
  operation = ProtoField.string("waxwing.operation", "Operation"),
  requested_by = ProtoField.string("waxwing.requested_by", "Requested by"),
  broker_address = ProtoField.string("waxwing.broker_address", "BrokerAddress"),
  ttl = ProtoField.uint32("waxwing.ttl", "TTL"),
  address = ProtoField.string("waxwing.address", "Address"),
  counters = ProtoField.string("waxwing.counters", "Counters"),
  sequence = ProtoField.uint64("waxwing.sequence", "Sequence"),
  message = ProtoField.bytes("waxwing.message", "Message"),
  target = ProtoField.string("waxwing.target", "Target"),
  stored = ProtoField.absolute_time("waxwing.stored", "Stored", base.UTC),
  epoch = ProtoField.uint64("waxwing.epoch", "Epoch"),
  after = ProtoField.uint64("waxwing.after", "After"),
  wait_ms = ProtoField.uint64("waxwing.wait_ms", "WaitMs"),
  most_bytes = ProtoField.uint64("waxwing.most_bytes", "MostBytes"),
  next = ProtoField.uint64("waxwing.next", "Next"),
  last = ProtoField.uint64("waxwing.last", "Last"),
  until = ProtoField.absolute_time("waxwing.until", "Until", base.UTC),
  most = ProtoField.uint64("waxwing.most", "Most"),
  load_per_s = ProtoField.uint64("waxwing.load_per_s", "LoadPerS"),
}
-- End.
local MOST_SECONDS_DIGITS = 10
local BAR = 124

local names = {}
for code, message in pairs(MESSAGES) do names[code] = message[1] end

f.code = ProtoField.uint32("waxwing.code", "Message", base.DEC, names)
f.hop = ProtoField.string("waxwing.hop", "Hop")
f.hops = ProtoField.uint32("waxwing.hops", "Hops")
f.record = ProtoField.string("waxwing.record", "Record")
f.mark = ProtoField.string("waxwing.mark", "Mark")
local listed = {}
for _, field in pairs(f) do table.insert(listed, field) end
waxwing.fields = listed

local wrong = ProtoExpert.new("waxwing.wrong", "Not a message that a broker reads", expert.group.MALFORMED, expert.severity.ERROR)
waxwing.experts = { wrong }
waxwing.prefs.ports = Pref.range("UDP ports", "", "Ports whose datagrams are always read as Waxwing's", 65535)

local function say_wrong(tree, words) tree:add_proto_expert_info(wrong, words) end

-- ---- fields: each adder gives false for what is no such field

-- Whether a text is a whole number as the protocol writes one.
local function is_whole(text)
  return #text <= MOST_DIGITS and (text == "0" or text:match("^[1-9]%d*$") ~= nil)
end

-- Fields come one at a time, each up to the next |, from the bytes of a datagram.
local Reader = {}
Reader.__index = Reader

function Reader.new(buffer)
  return setmetatable({ buffer = buffer, text = buffer:raw(), at = 1 }, Reader)
end

-- Steps over the | before a field; false where there is none.
function Reader:more()
  if self.text:byte(self.at) ~= BAR then return false end
  self.at = self.at + 1
  return true
end

function Reader:left() return #self.text - self.at + 1 end

-- A field's text, and its range unless it is empty; without a length it ends before the next |.
function Reader:take(length)
  local first = self.at
  local last = length and first + length - 1 or (self.text:find("|", first, true) or #self.text + 1) - 1
  last = math.min(last, #self.text)
  self.at = last + 1
  return self.text:sub(first, last), last >= first and self.buffer(first - 1, last - first + 1) or nil
end

local function number(most)
  return function(tree, field, text, range)
    if not is_whole(text) or tonumber(text) < 1 or tonumber(text) > most then return false end
    tree:add(field, range, tonumber(text))
    return true
  end
end

local function status(low, high)
  return function(tree, field, text, range)
    local value = is_whole(text) and tonumber(text)
    if not value or not STATUSES[value] or value < low or value > high then return false end
    tree:add(field, range, value)
    return true
  end
end

local function plain(tree, field, text, range)
  tree:add(field, range, text)
  return true
end

local function time(tree, field, text, range)
  if not is_whole(text) then return false end
  local seconds, thousandths = text:sub(1, -4), text:sub(-3)
  if #seconds > MOST_SECONDS_DIGITS then
    tree:add(field, range, NSTime.new(0, 0)):append_text(" (" .. text .. " ms: later than a date can name)")
  else
    tree:add(field, range, NSTime.new(tonumber(seconds) or 0, tonumber(thousandths) * 1000000))
  end
  return true
end

local function integer(tree, field, text, range)
  if not is_whole(text) then return false end
  tree:add(field, range, UInt64(text))
  return true
end

local ADDERS = {
  time = time, integer = integer, size = number(MOST_PAYLOAD), ttl = number(MOST_TTL),
  ack_status = status(100, 199), nack_status = status(200, 399),
}

-- ---- what may follow

local function add_hops(reader, tree, may_be_marked)
  local count = 0
  while reader:more() do
    local start = reader.at
    local host, range = reader:take()
    if may_be_marked and host == "*" and count > 0 then
      tree:add(f.mark, range, host):append_text(" (its broker keeps a replica)")
    elseif not reader:more() then
      say_wrong(tree, "A hop is two fields, host and port")
    else
      local port = reader:take()
      count = count + 1
      tree:add(f.hop, reader.buffer(start - 1, #host + 1 + #port), host .. "|" .. port)
    end
  end
  tree:add(f.hops, count):set_generated()
end

local function add_addresses(reader, tree, may_end_in_star)
  while reader:more() do
    local text, range = reader:take()
    if not range then say_wrong(tree, "An address is empty")
    elseif text == "*" and may_end_in_star then tree:add(f.mark, range, text)
    else tree:add(f.address, range, text) end
  end
end

local function add_star(reader, tree)
  if not reader:more() then return end
  local text, range = reader:take()
  if text == "*" then tree:add(f.mark, range, text) else say_wrong(tree, "Only * may follow") end
end

local dissect

local CHANGES = { E = "held, from its provider", R = "held as a replica", W = "withdrawn", D = "dropped before its ValidEnd" }

local function add_records(reader, tree)
  while reader:more() do
    local start = reader.at
    local number = reader:take()
    local change = reader:more() and reader:take()
    local size = reader:more() and reader:take()
    if not (size and is_whole(number) and CHANGES[change] and is_whole(size)) or not reader:more() then
      say_wrong(tree, "A record is number, change, size and message")
      return
    end
    local begin = reader.at
    if size == "0" or tonumber(size) > reader:left() then
      say_wrong(tree, "A record's size is " .. size .. ", " .. reader:left() .. " bytes are here")
      return
    end
    reader:take(tonumber(size))
    local record = tree:add(f.record, reader.buffer(start - 1, reader.at - start), number .. "|" .. change)
    record:append_text(" (" .. CHANGES[change] .. ")")
    dissect(reader.buffer(begin - 1, tonumber(size)), record)
  end
end

local TAILS = {
  ["nothing"] = function() end,
  ["hops"] = function(reader, tree) add_hops(reader, tree, false) end,
  ["marked hops"] = function(reader, tree) add_hops(reader, tree, true) end,
  ["addresses"] = function(reader, tree) add_addresses(reader, tree, false) end,
  ["addresses and a star"] = function(reader, tree) add_addresses(reader, tree, true) end,
  ["star"] = add_star,
  ["records"] = add_records,
}

-- ---- messages

-- Whether all fields were there.
local function add_fields(reader, tree, specification)
  local size
  for name, kind in specification:gmatch("(%S+):(%S+)") do
    if not reader:more() then
      say_wrong(tree, name .. " is missing")
      return false
    end
    if kind == "message" then
      if reader:left() == 0 then say_wrong(tree, "The message within is empty") return false end
      local inner = reader.buffer(reader.at - 1)
      reader.at = #reader.text + 1
      dissect(inner, tree:add(f.message, inner))
      return true
    end
    local text, range = reader:take(kind == "payload" and size or nil)
    local prefix = PREFIXES[kind] or ""
    local value = text:sub(#prefix + 1)
    if not range or text:sub(1, #prefix) ~= prefix or not (ADDERS[kind] or plain)(tree, f[name], value, range) then
      say_wrong(tree, name .. " is wrong: " .. text)
    elseif kind == "size" then
      size = tonumber(text)
    elseif kind == "payload" and size and #text < size then
      say_wrong(tree, "PayloadSize says " .. size .. " bytes, " .. #text .. " are here")
    end
  end
  return true
end

-- The code and name of the message, or nil.
function dissect(buffer, tree)
  local reader = Reader.new(buffer)
  local text, range = reader:take()
  local message = is_whole(text) and MESSAGES[tonumber(text)]
  if not message then
    say_wrong(tree, "No message has this code")
    return nil
  end
  tree:add(f.code, range, tonumber(text))
  if add_fields(reader, tree, message[2]) then TAILS[message[3]](reader, tree) end
  if reader:left() > 0 then say_wrong(tree, reader:left() .. " bytes more than this message has") end
  return text .. " " .. message[1]
end

function waxwing.dissector(buffer, pinfo, tree)
  if buffer:len() == 0 then return 0 end
  local root = tree:add(waxwing, buffer())
  local name = dissect(buffer(), root)
  pinfo.cols.protocol = "Waxwing"
  pinfo.cols.info = (name or "unreadable") .. "  " .. buffer():raw():sub(1, 120):gsub("[^%g ]", ".")
  if name then root:append_text(", " .. name) end
  return buffer:len()
end

-- By its form: the code of a message, |, and a number.
local function is_ours(buffer)
  local code = buffer():raw():sub(1, 24):match("^(%d+)|%d")
  return code ~= nil and is_whole(code) and MESSAGES[tonumber(code)] ~= nil
end

waxwing:register_heuristic("udp", function(buffer, pinfo, tree)
  if buffer:len() == 0 or not is_ours(buffer) then return false end
  waxwing.dissector(buffer, pinfo, tree)
  return true
end)

local ports = DissectorTable.get("udp.port")
local chosen = ""
function waxwing.prefs_changed()
  if chosen ~= "" then ports:remove(chosen, waxwing) end
  chosen = waxwing.prefs.ports
  if chosen ~= "" then ports:add(chosen, waxwing) end
end
ports:add_for_decode_as(waxwing)
