-- release: an owner gives up (cancelled, shutting down); the next asker takes over at once (DESIGN 3.4).
--
-- KEYS[1]  the flight's record
-- ARGV[1]  ownerId
-- ARGV[2]  ownerToken
-- ARGV[3]  ttl           ms
-- ARGV[4]  errorMessage  why
--
-- Replies
--   {'OK', waiters}    released; waiters are the ids of the nodes to wake, separated by blanks
--   {'TAKEN', ''}      another owner has it
--   {'FORGOTTEN', ''}  a tombstone is there
--   {'GONE', ''}       nothing is there
--
-- Sent twice: a finished record of the same ownerId and ownerToken answers OK and is not written again.

--@include common

local answer, status, waiters, forgottenUntil = compare(KEYS[1], ARGV[1], ARGV[2])
if answer ~= 'OWN' then
  return {answer, ''}
end
if not active(status) then
  return {'OK', waiters}
end
local millis = now()
redis.call('HSET', KEYS[1], 'status', 'FAILED', 'finishedAt', num(millis), 'leaseMillis', '0',
  'errorType', 'dev.soloflight.FlightCancelledException', 'errorCode', 'RELEASED',
  'errorMessage', ARGV[4], 'retryable', '1')
expire(KEYS[1], ARGV[3], forgottenUntil, millis)
return {'OK', waiters}
