-- Kinds of values: "type", and names and kinds of the elements of arrays. Messages: name, and names and kinds of fields.
local V = {
@VALUES@
}
local M = {
@LAYOUTS@
}
local NAMES = {}
for code, message in pairs(M) do NAMES[code] = message[1] end
local WORDS = {
@WORDS@
}
@FIELDS@
f["kind"] = ProtoField.uint32("@KEY@.kind", "kind", base.DEC, NAMES)
f["entry"] = ProtoField.string("@KEY@.entry", "entry")
f["other"] = ProtoField.string("@KEY@.other", "value")

local MOST_DEPTH = 32
local INSIDE = @INSIDE@ -- the field of documents in texts
local CONSTANTS = { [0xc0] = "nil", [0xc2] = "false", [0xc3] = "true" }
local SIZED = {
  [0xc4] = { "bytes", 1 }, [0xc5] = { "bytes", 2 }, [0xc6] = { "bytes", 4 },
  [0xd9] = { "text", 1 }, [0xda] = { "text", 2 }, [0xdb] = { "text", 4 },
  [0xdc] = { "array", 2 }, [0xdd] = { "array", 4 }, [0xde] = { "map", 2 }, [0xdf] = { "map", 4 },
}

-- A value of MessagePack: type, place, and its text or its elements; nil where it cannot be read.
local unpacked
local function many(tvb, at, inside, kind, count, depth)
  local found = { type = kind, at = at, inside = inside, stop = inside, elements = {}, count = count }
  for _ = 1, kind == "map" and 2 * count or count do
    local element = depth > 0 and unpacked(tvb, found.stop, depth - 1)
    if not element then return nil end
    table.insert(found.elements, element)
    found.stop = element.stop
  end
  local texts = {}
  for _, element in ipairs(found.elements) do table.insert(texts, element.text) end
  found.text = (kind == "map" and "{" or "[") .. table.concat(texts, ", ") .. (kind == "map" and "}" or "]")
  return found
end

local function run(tvb, at, inside, kind, size)
  if inside + size > tvb:len() then return nil end
  local found = { type = kind, at = at, inside = inside, stop = inside + size, text = "" }
  if size > 0 then
    local range = tvb(inside, size)
    found.text = kind == "text" and range:string(ENC_UTF_8) or range:bytes():tohex()
  end
  return found
end

local function number(tvb, at, first)
  local size = first <= 0xcb and (first == 0xca and 4 or 8) or 2 ^ ((first - 0xcc) % 4)
  if at + 1 + size > tvb:len() then return nil end
  local range = tvb(at + 1, size)
  local found = { type = "integer", at = at, stop = at + 1 + size, range = range }
  if first <= 0xcb then
    found.type, found.text = "float", tostring(range:float())
  elseif first < 0xd0 then
    found.text = size == 8 and tostring(range:uint64()) or tostring(range:uint())
  else
    found.text = size == 8 and tostring(range:int64()) or tostring(range:int())
  end
  return found
end

function unpacked(tvb, at, depth)
  if at >= tvb:len() then return nil end
  local first = tvb(at, 1):uint()
  if first < 0x80 or first >= 0xe0 then
    return { type = "integer", at = at, stop = at + 1, text = tostring(first < 0x80 and first or first - 0x100) }
  end
  if first < 0x90 then return many(tvb, at, at + 1, "map", first - 0x80, depth) end
  if first < 0xa0 then return many(tvb, at, at + 1, "array", first - 0x90, depth) end
  if first < 0xc0 then return run(tvb, at, at + 1, "text", first - 0xa0) end
  if CONSTANTS[first] then return { type = CONSTANTS[first], at = at, stop = at + 1, text = CONSTANTS[first] } end
  if first >= 0xca and first <= 0xd3 then return number(tvb, at, first) end
  local sized = SIZED[first]
  if not sized or at + 1 + sized[2] > tvb:len() then return nil end
  local size, inside = tvb(at + 1, sized[2]):uint(), at + 1 + sized[2]
  if sized[1] == "array" or sized[1] == "map" then
    if size > tvb:len() then return nil end
    return many(tvb, at, inside, sized[1], size, depth)
  end
  return run(tvb, at, inside, sized[1], size)
end

local function moment(text)
  local ms = UInt64.new(0)
  for digit in text:gmatch("%d") do ms = ms * 10 + tonumber(digit) end
  return NSTime.new((ms / 1000):tonumber(), (ms % 1000):tonumber() * 1000000)
end

local ADDERS = {
  number = function(tree, field, range, value)
    if value.type ~= "integer" or value.text:sub(1, 1) == "-" then return nil end
    local number = UInt64.new(0)
    for digit in value.text:gmatch("%d") do number = number * 10 + tonumber(digit) end
    return tree:add(field, range, number)
  end,
  choice = function(tree, field, range, value)
    if value.type ~= "integer" then return nil end
    return tree:add(field, range, tonumber(value.text))
  end,
  time = function(tree, field, range, value)
    if value.type ~= "integer" or value.text:sub(1, 1) == "-" then return nil end
    return tree:add(field, range, moment(value.text))
  end,
  boolean = function(tree, field, range, value)
    if value.type ~= "true" and value.type ~= "false" then return nil end
    return tree:add(field, range, value.type == "true")
  end,
  text = function(tree, field, range, value)
    if value.type ~= "text" then return nil end
    return tree:add(field, range, value.text)
  end,
  array = function(tree, field, range, value)
    if value.type ~= "array" then return nil end
    return tree:add(field, range, value.text)
  end,
  any = function(tree, field, range, value) return tree:add(field, range, value.text) end,
}

local add
local function add_inside(tvb, tree, name, kind, value)
  local form = V[kind]
  if value.type == "map" then
    for at = 1, #value.elements, 2 do
      local key, one = value.elements[at], value.elements[at + 1]
      tree:add(f["entry"], tvb(key.at, one.stop - key.at), key.text .. " = " .. one.text)
    end
  elseif value.type == "array" then
    for at, element in ipairs(value.elements) do
      if form.each then add(tvb, tree, form.each[1], form.each[2], element)
      elseif form.parts and form.parts[at] then add(tvb, tree, form.parts[at][1], form.parts[at][2], element) end
    end
  end
end

function add(tvb, tree, name, kind, value)
  local form, range = V[kind], tvb(value.at, value.stop - value.at)
  if form.is_optional and value.type == "nil" then return end
  if INSIDE and form.parts and value.type == "text" and value.text:sub(1, 1) == "<" then
    tree:add(f[INSIDE], range, value.text)
    return
  end
  local branch = ADDERS[form.type](tree, f[name], range, value)
  if not branch then
    say_wrong(tree:add(f["other"], range, value.text), name .. " must not be " .. value.text)
    return
  end
  if form.words and not WORDS[form.words][tonumber(value.text)] then
    say_wrong(branch, name .. " must not be " .. value.text)
  end
  if form.parts or form.each or value.type == "map" then add_inside(tvb, branch, name, kind, value) end
end

local function read(tvb, tree)
  local value = unpacked(tvb, 0, MOST_DEPTH)
  local code = value and value.type == "array" and value.elements[1] and value.elements[1].type == "integer"
    and tonumber(value.elements[1].text)
  local message = code and M[code]
  if not message then return nil end
  local branch = tree:add(f["kind"], tvb(value.elements[1].at, value.elements[1].stop - value.elements[1].at), code)
  local fields = message[2]
  for at, field in ipairs(fields) do
    local element = value.elements[at + 1]
    if not element then
      say_wrong(branch, field[1] .. " is missing")
      break
    end
    add(tvb, branch, field[1], field[2], element)
  end
  if #value.elements - 1 > #fields then say_wrong(branch, "The message has surplus fields") end
  if value.stop < tvb:len() then say_wrong(branch, "Surplus bytes follow the message") end
  return message[1]
end
