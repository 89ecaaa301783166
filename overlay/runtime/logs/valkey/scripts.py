"""The scripts that Valkey runs for a log, each as one step.

Keys of a deployment, ``P`` is its prefix::

    P s TOPIC PARTITION     stream of records: fields k (key), v (value), t (Unix µs of the append)
    P h TOPIC PARTITION     hash of a compacted topic: key -> position, time, value of its newest record
    P g GROUP TOPIC         hash: v (version), s (leases, as their driver writes them), gN (generation of partition N),
                            cN (committed position of partition N)
    P m GROUP TOPIC         sorted set: members by their last heartbeat, Unix ms of the engine

Positions are texts of one length, since Lua's numbers are too short: ``MMMMMMMMMMMMMMM-NNNNNNN``.
"""

from __future__ import annotations

MOST_NEWEST = 10_000
"""Records in the stream of a compacted topic, next to the newest of each key."""

BEAT = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local newest = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
local silence = newest[2] and now - newest[2] - ARGV[2] or 0
if silence > 0 then
  for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    redis.call('ZINCRBY', KEYS[2], silence, member)
  end
end
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. now - ARGV[2])
local version, leases = redis.call('HGET', KEYS[1], 'v'), redis.call('HGET', KEYS[1], 's')
return {version or '0', leases or '', redis.call('ZRANGE', KEYS[2], 0, -1)}
"""
"""Keys: group, members. Arguments: member, time-out in ms. Returns version, leases, and members that are not dead. Time
in which no member was heard at all, since the engine was away, does not count."""

CHANGE = """
if (redis.call('HGET', KEYS[1], 'v') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[1] + 1, 's', ARGV[2])
local found = {}
for i = 4, #ARGV, 3 do
  local number = ARGV[i]
  local last = redis.call('XREVRANGE', ARGV[i + 2], '+', '-', 'COUNT', 1)[1]
  redis.call('HSET', KEYS[1], 'g' .. number, ARGV[i + 1])
  local id, us = '', '0'
  if last then id, us = last[1], last[2][6] end
  local committed = redis.call('HGET', KEYS[1], 'c' .. number)
  if not committed and ARGV[3] == '1' then
    local ms, n = string.match(id, '(%d+)-(%d+)')
    committed = last and string.format('%015d-%07d', ms, n + 1) or string.format('%015d-%07d', 0, 0)
    redis.call('HSET', KEYS[1], 'c' .. number, committed)
  end
  found[#found + 1] = {committed or '', id, us}
end
return found
"""
"""Keys: group. Arguments: version that was read, leases, whether the group begins with the newest record; for each
partition that the member claims its number, generation and stream. A stream among the keys would need a user who may
write it. Returns 0 if the version has changed, otherwise for each its committed position, and the id and time of its
last record."""

COMMIT = """
local found = {}
for i = 1, #ARGV, 3 do
  found[#found + 1] = 0
  if redis.call('HGET', KEYS[1], 'g' .. ARGV[i]) == ARGV[i + 1] then
    local before = redis.call('HGET', KEYS[1], 'c' .. ARGV[i])
    if not before or before < ARGV[i + 2] then redis.call('HSET', KEYS[1], 'c' .. ARGV[i], ARGV[i + 2]) end
    found[#found] = 1
  end
end
return found
"""
"""Keys: group. Arguments: for each commit partition, generation, position. Returns which were accepted."""

APPEND = """
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'k', ARGV[2], 'v', ARGV[3], 't', ARGV[4])
local ms, n = string.match(id, '(%d+)-(%d+)')
redis.call('HSET', KEYS[2], ARGV[2], string.format('%015d-%07d', ms, n) .. ' ' .. ARGV[4] .. ' ' .. ARGV[3])
return id
"""
"""Keys: stream and hash of a compacted topic. Arguments: bound, key, value, time."""
