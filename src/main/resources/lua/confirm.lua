-- confirm: PENDING -> RUNNING right before the task runs, the last check before money is spent (DESIGN 3.4).
--
-- KEYS[1]  the flight's record
-- ARGV[1]  ownerId
-- ARGV[2]  ownerToken
-- ARGV[3]  runningTtl  ms
--
-- Replies
--   {'OK', ''}         this owner may run the task
--   {'TAKEN', ''}      another owner has it, or it is finished
--   {'FORGOTTEN', ''}  a tombstone is there
--   {'GONE', ''}       nothing is there
--
-- Sent twice: RUNNING under the same ownerId and ownerToken is OK again.

--@include common

local answer, status = compare(KEYS[1], ARGV[1], ARGV[2])
if answer ~= 'OWN' then
  return {answer, ''}
end
if not active(status) then
  return {'TAKEN', ''}
end
local millis = now()
redis.call('HSET', KEYS[1], 'status', 'RUNNING', 'heartbeatAt', num(millis))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {'OK', ''}
