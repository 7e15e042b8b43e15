-- create.lua - wrk script: every request creates and publishes an article of its own, with a key of its own.
-- Arguments: TOKEN BYTES [RUN COUNT]; with the last two each thread sends the same COUNT requests again and again, so all but the first are replays.
local paragraph = "The quick brown fox jumps over the lazy dog while the *editor* counts her words and " ..
    "links to [another page](/articles/somewhere) before the `day` ends. "
local thread_count = 0

function setup(thread)
	thread:set("number", thread_count)
	thread_count = thread_count + 1
end

function init(args)
	token = args[1]
	bytes = tonumber(args[2])
	counter = 0
	run = args[3] or string.format("%08x%04x", os.time(), math.random(0, 65535))
	count = tonumber(args[4] or 0)
	local parts = {}
	local size = 0
	while size < bytes - 400 do
		if #parts % 6 == 0 then
			parts[#parts + 1] = "\\n\\n## Part " .. (#parts / 6 + 1) .. "\\n\\n"
		end
		parts[#parts + 1] = paragraph
		size = size + #paragraph
	end
	text = table.concat(parts)
end

function request()
	counter = counter + 1
	if count > 0 and counter > count then
		counter = 1
	end
	local id = string.format("%s-%d-%d", run, number, counter)
	local body = '{"title":"Benchmark ' .. id .. '","state":"published","content":"Number ' .. id .. ". " .. text .. '"}'
	return wrk.format("POST", "/api/v1/articles", {
		["Authorization"] = "Bearer " .. token,
		["Content-Type"] = "application/json",
		["Idempotency-Key"] = "bench-key-" .. id,
	}, body)
end

function done(summary, latency, requests)
	io.write(string.format("RESULT requests=%d duration_us=%d errors=%d p50_us=%d p99_us=%d max_us=%d\n", summary.requests,
	    summary.duration, summary.errors.status + summary.errors.read + summary.errors.write + summary.errors.connect +
	    summary.errors.timeout, latency:percentile(50), latency:percentile(99), latency.max))
end
