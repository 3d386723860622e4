-- acquire: asks for a flight; decides atomically who owns it (DESIGN 3.3). Also the follower's poll.
--
-- KEYS[1]  the flight's record
-- ARGV[1]  ownerId         who asks; unique to one asking, the same when sent again
-- ARGV[2]  idempotencyKey  the proposal, fixed for the flight's life if this makes a new one
-- ARGV[3]  stage
-- ARGV[4]  leaseMillis     ms, the asker's takeover-detect
-- ARGV[5]  runningTtl      ms
-- ARGV[6]  maxAttempts     owners a flight may have
-- ARGV[7]  failedTtl       ms, life of an OWNER_LOST failure
-- ARGV[8]  inbox           the asking node's id, joins waiters on FOLLOWER_WAIT; '' to join nothing
-- ARGV[9]  damagedToken    a finished record with this ownerToken counts as absent; '' for none
-- ARGV[10] resume          '1': the asker has executed, or is executing, under this idempotencyKey;
--                          it gets no ownership over a tombstone or of another idempotencyKey
--
-- Replies
--   {'OWNER_NEW', ownerToken, attempt, idempotencyKey, damaged}   damaged '1': something unreadable was there
--   {'OWNER_TAKEOVER', ownerToken, attempt, idempotencyKey, '0'}
--   {'FOLLOWER_WAIT', ownerToken, waitMillis}                     until the lease or the back-off runs out
--   {'REPLAY_SUCCESS', ownerToken, codec, rawSize, checksum, payload, ttlMillis}
--   {'REPLAY_FAILURE', ownerToken, errorType, errorCode, errorMessage, retryable, ttlMillis}
--   {'FORGOTTEN', ownerToken}                                     with resume only
--
-- Sent twice: an ownerId that owns already gets the same ownership again; joining waiters is done
-- once; replays change nothing.

--@include common

local key = KEYS[1]
local ownerId, proposal, stage = ARGV[1], ARGV[2], ARGV[3]
local leaseMillis, runningTtl, maxAttempts, failedTtl = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local inbox, damagedToken, resume = ARGV[8], ARGV[9], ARGV[10] == '1'

local r = fields(key, 'v', 'status', 'ownerToken', 'ownerId', 'attempt', 'idempotencyKey',
  'heartbeatAt', 'finishedAt', 'leaseMillis', 'waiters', 'retryable',
  'errorType', 'errorCode', 'errorMessage', 'codec', 'rawSize', 'checksum', 'payload', 'forgottenUntil')
local damaged = r == nil
r = r or {}
local version, status, token = r[1], r[2], tokenOf(r[3]) and r[3]
local attempt, idempotencyKey = tonumber(r[5]), r[6]
local heartbeatAt, finishedAt, lease = tonumber(r[7]), tonumber(r[8]), tonumber(r[9])
local waiters = r[10] or ''

local function nextToken(micros)
  return num(math.max((tonumber(token) or 0) + 1, micros))
end

local function replaySuccess()
  return {'REPLAY_SUCCESS', token, r[15] or '', r[16] or '', r[17] or '', r[18] or '', redis.call('PTTL', key)}
end

local function replayFailure()
  return {'REPLAY_FAILURE', token, r[12] or '', r[13] or '', r[14] or '', r[11] or '0', redis.call('PTTL', key)}
end

local function followerWait(millis)
  if inbox ~= '' and not string.find(' ' .. waiters .. ' ', ' ' .. inbox .. ' ', 1, true) and #waiters < 16384 then
    -- Out of memory is no reason to refuse: the follower still polls.
    redis.pcall('HSET', key, 'waiters', waiters == '' and inbox or waiters .. ' ' .. inbox)
  end
  return {'FOLLOWER_WAIT', token, num(math.max(millis, 0))}
end

local function ownNew()
  local millis, micros = now()
  local forgottenUntil = 0
  if status == 'FORGOTTEN' then
    forgottenUntil = millis + math.max(redis.call('PTTL', key), 0)
  end
  local mine = nextToken(micros)
  mayExpire(key, runningTtl)
  redis.call('DEL', key)
  redis.call('HSET', key, 'v', VERSION, 'status', 'PENDING', 'stage', stage, 'ownerId', ownerId,
    'ownerToken', mine, 'attempt', '1', 'idempotencyKey', proposal, 'startedAt', num(millis),
    'heartbeatAt', num(millis), 'leaseMillis', leaseMillis)
  if forgottenUntil > 0 then
    redis.call('HSET', key, 'forgottenUntil', num(forgottenUntil))
  end
  redis.call('PEXPIRE', key, runningTtl)
  return {'OWNER_NEW', mine, 1, proposal, damaged and '1' or '0'}
end

local function takeOver()
  if resume and idempotencyKey ~= proposal then
    return {'FORGOTTEN', token}
  end
  local millis, micros = now()
  local mine = nextToken(micros)
  local others = {}
  for node in string.gmatch(waiters, '%S+') do
    if node ~= inbox then
      others[#others + 1] = node
    end
  end
  redis.call('HSET', key, 'status', 'PENDING', 'ownerId', ownerId, 'ownerToken', mine,
    'attempt', num(attempt + 1), 'startedAt', num(millis), 'heartbeatAt', num(millis),
    'leaseMillis', leaseMillis, 'waiters', table.concat(others, ' '))
  redis.call('HDEL', key, 'finishedAt', 'errorType', 'errorCode', 'errorMessage', 'retryable')
  redis.call('PEXPIRE', key, runningTtl)
  return {'OWNER_TAKEOVER', mine, attempt + 1, idempotencyKey, '0'}
end

if status == 'SUCCEEDED' and version == VERSION and token and token ~= damagedToken then
  return replaySuccess()
end

if status == 'FORGOTTEN' and version == VERSION then
  if resume then
    return {'FORGOTTEN', token or '0'}
  end
  return ownNew()
end

-- What is no record of ours, or half of one, counts as absent and is reported.
local usable = version == VERSION and token and attempt and idempotencyKey and lease
  and ((active(status) and heartbeatAt) or (status == 'FAILED' and finishedAt and r[12]))
if not usable or token == damagedToken then
  damaged = damaged or version or status
  return ownNew()
end

local millis = now()

if status == 'FAILED' then
  -- A release is an orderly handover: it counts as an attempt, but is never the last one.
  local released = r[13] == 'RELEASED'
  if r[11] ~= '1' or (attempt >= maxAttempts and not released) then
    return replayFailure()
  end
  local backoffLeft = finishedAt + lease - millis
  if backoffLeft > 0 then
    return followerWait(backoffLeft)
  end
  return takeOver()
end

if r[4] == ownerId then
  if resume and idempotencyKey ~= proposal then
    return {'FORGOTTEN', token}
  end
  return {attempt == 1 and 'OWNER_NEW' or 'OWNER_TAKEOVER', token, attempt, idempotencyKey, '0'}
end

local leaseLeft = heartbeatAt + lease - millis
if leaseLeft >= 0 then
  return followerWait(leaseLeft + 1)
end
if attempt < maxAttempts then
  return takeOver()
end

-- A request that kills its owners stops killing.
local errorType, errorCode = 'dev.soloflight.FlightFailedException', 'OWNER_LOST'
local errorMessage = num(attempt) .. ' owners stopped beating; the last was ' .. tostring(r[4])
redis.call('HSET', key, 'status', 'FAILED', 'finishedAt', num(millis), 'leaseMillis', '0',
  'errorType', errorType, 'errorCode', errorCode, 'errorMessage', errorMessage, 'retryable', '0')
expire(key, failedTtl, tonumber(r[19]) or 0, millis)
return {'REPLAY_FAILURE', token, errorType, errorCode, errorMessage, '0', redis.call('PTTL', key)}
