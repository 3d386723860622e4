-- inbox: makes a node's own inbox stream where it is missing and gives it a new TTL (DESIGN 3.5).
--
-- KEYS[1]  the inbox
-- ARGV[1]  ttl  ms
--
-- Replies
--   {'CREATED', ''}    it was missing: events may have been lost, so everybody looks again
--   {'REFRESHED', ''}  it was there
--
-- Sent twice: refreshes it.

if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return {'REFRESHED', ''}
end
redis.call('XADD', KEYS[1], '*', 'flight', '')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {'CREATED', ''}
