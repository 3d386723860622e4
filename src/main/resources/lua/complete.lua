-- complete: the owner commits its outcome (DESIGN 3.4).
--
-- KEYS[1]  the flight's record
-- ARGV[1]  ownerId
-- ARGV[2]  ownerToken
-- ARGV[3]  status  'SUCCEEDED' or 'FAILED'
-- ARGV[4]  ttl     ms, result-ttl or failed-result-ttl
-- SUCCEEDED:
-- ARGV[5]  codec
-- ARGV[6]  rawSize  bytes
-- ARGV[7]  checksum
-- ARGV[8]  payload
-- FAILED:
-- ARGV[5]  errorType
-- ARGV[6]  errorCode
-- ARGV[7]  errorMessage
-- ARGV[8]  retryable  '1' or '0'
-- ARGV[9]  backoffMillis  ms before a takeover, kept as leaseMillis
--
-- Replies
--   {'OK', waiters}    committed; waiters are the ids of the nodes to wake, separated by blanks
--   {'TAKEN', ''}      another owner has it
--   {'FORGOTTEN', ''}  a tombstone is there
--   {'GONE', ''}       nothing is there
--
-- Sent twice: a finished record of the same ownerId and ownerToken answers OK with the same waiters
-- and is not written again.

--@include common

local answer, status, waiters, forgottenUntil = compare(KEYS[1], ARGV[1], ARGV[2])
if answer ~= 'OWN' then
  return {answer, ''}
end
if not active(status) then
  return {'OK', waiters}
end
local millis = now()
if ARGV[3] == 'SUCCEEDED' then
  redis.call('HSET', KEYS[1], 'status', 'SUCCEEDED', 'finishedAt', num(millis),
    'codec', ARGV[5], 'rawSize', ARGV[6], 'checksum', ARGV[7], 'payload', ARGV[8])
else
  redis.call('HSET', KEYS[1], 'status', 'FAILED', 'finishedAt', num(millis),
    'errorType', ARGV[5], 'errorCode', ARGV[6], 'errorMessage', ARGV[7], 'retryable', ARGV[8],
    'leaseMillis', ARGV[9])
end
expire(KEYS[1], ARGV[4], forgottenUntil, millis)
return {'OK', waiters}
