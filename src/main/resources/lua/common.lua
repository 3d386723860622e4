-- Shared by the steps: included by the line "--@include common", never run alone.
--
-- The record of a flight is one hash (DESIGN 3.1). Time is the Redis clock alone (DESIGN 3.2).
-- A key that holds something else, or a record of another version, is treated as absent.

local VERSION = '1'

local function now()
  local t = redis.call('TIME')
  local micros = t[1] * 1000000 + t[2]
  return math.floor(micros / 1000), micros
end

-- Lua would print numbers above 2^31 as 1.7e+15.
local function num(n)
  return string.format('%.0f', n)
end

-- A token's value, or nil where it is none: then its record is damaged. A client could not name it
-- as the damaged one either, and would be served it again and again.
local function tokenOf(text)
  local value = text and #text <= 16 and string.match(text, '^[1-9]%d*$') and tonumber(text)
  return value and value < 9007199254740991 and value or nil
end

-- Values of the named fields, or nil where the key is no hash. Any other error is the caller's.
local function fields(key, ...)
  local r = redis.pcall('HMGET', key, ...)
  if r.err then
    if string.find(r.err, 'WRONGTYPE', 1, true) then
      return nil
    end
    error(r.err, 0)
  end
  return r
end

-- Compare-and-set's compare: OWN (with status, waiters and forgottenUntil), or the refusal.
local function compare(key, ownerId, ownerToken)
  local r = fields(key, 'v', 'status', 'ownerId', 'ownerToken', 'waiters', 'forgottenUntil')
  if not r or r[1] ~= VERSION or not r[2] or not r[4] then
    return 'GONE'
  end
  if r[2] == 'FORGOTTEN' then
    return 'FORGOTTEN'
  end
  if r[3] ~= ownerId or r[4] ~= ownerToken then
    return 'TAKEN'
  end
  return 'OWN', r[2], r[5] or '', tonumber(r[6]) or 0
end

local function active(status)
  return status == 'PENDING' or status == 'RUNNING'
end

-- Before a key is made: without the right to set a TTL nothing is written that would stay.
local function mayExpire(key, ttlMillis)
  redis.call('PEXPIRE', key, ttlMillis)
end

-- A record born over a tombstone outlives it: an old owner must not find the key empty too early.
local function expire(key, ttlMillis, forgottenUntil, nowMillis)
  redis.call('PEXPIRE', key, num(math.max(tonumber(ttlMillis), forgottenUntil - nowMillis)))
end
