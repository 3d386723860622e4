-- forget: leaves a tombstone, whatever was there, nothing included (DESIGN 3.4).
--
-- KEYS[1]  the flight's record
-- ARGV[1]  forgetId    who forgets; unique to one forget, the same when sent again
-- ARGV[2]  stage
-- ARGV[3]  runningTtl  ms, the tombstone's life at least
--
-- Replies
--   {'REMOVED', ownerToken, waiters}  there was a flight; waiters are the ids of the nodes to wake
--   {'ABSENT', ownerToken, ''}        there was none
--
-- Sent twice: the tombstone of the same forgetId is left as it is and answers the same.

--@include common

local key = KEYS[1]
local r = fields(key, 'v', 'status', 'ownerToken', 'ownerId', 'waiters', 'errorCode')
local known = r and r[1] == VERSION
if known and r[2] == 'FORGOTTEN' and r[4] == ARGV[1] then
  return {r[6], r[3], r[5] or ''}
end
local status = known and r[2] or false
local found = (status and status ~= 'FORGOTTEN') and 'REMOVED' or 'ABSENT'
local waiters = found == 'REMOVED' and r[5] or ''
-- An owner of other settings may count on a longer tombstone: its last beat tells, by the TTL left.
local ttl = tonumber(ARGV[3])
if active(status) or status == 'FORGOTTEN' then
  ttl = math.max(ttl, redis.call('PTTL', key))
end
local millis, micros = now()
local token = num(math.max((r and tokenOf(r[3]) or 0) + 1, micros))
mayExpire(key, ARGV[3])
redis.call('DEL', key)
redis.call('HSET', key, 'v', VERSION, 'status', 'FORGOTTEN', 'stage', ARGV[2], 'ownerId', ARGV[1],
  'ownerToken', token, 'attempt', '0', 'finishedAt', num(millis), 'leaseMillis', '0',
  'errorCode', found, 'waiters', waiters)
redis.call('PEXPIRE', key, num(ttl))
return {found, token, waiters}
