-- heartbeat: the owner is alive; its lease begins anew (DESIGN 3.4).
--
-- KEYS[1]  the flight's record
-- ARGV[1]  ownerId
-- ARGV[2]  ownerToken
-- ARGV[3]  runningTtl  ms
--
-- Replies
--   {'OK', ''}         still the owner
--   {'TAKEN', ''}      lost: taken over
--   {'FORGOTTEN', ''}  lost: forgotten
--   {'GONE', ''}       the record was lost: restart, eviction, failover
--
-- Sent twice: beats twice. A finished record of this owner is left as it is.

--@include common

local answer, status = compare(KEYS[1], ARGV[1], ARGV[2])
if answer ~= 'OWN' then
  return {answer, ''}
end
if active(status) then
  local millis = now()
  redis.call('HSET', KEYS[1], 'heartbeatAt', num(millis))
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return {'OK', ''}
