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

-- The TTL first: it tells whether the inbox is there, and without the right to set it nothing is
-- written that would stay.
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 1 then
  return {'REFRESHED', ''}
end
redis.call('XADD', KEYS[1], '*', 'flight', '')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {'CREATED', ''}
