-- GET of a random old address out of ROWS: each thread draws its own. Arguments: rows, seed.
local threads = {}

function setup(thread)
	thread:set("number", #threads + 1)
	table.insert(threads, thread)
end

function init(args)
	rows = tonumber(args[1])
	wrong = 0
	math.randomseed(tonumber(args[2]) + number)
end

function request()
	return string.format("GET /old/%07d/an-address-of-some-length HTTP/1.1\r\nHost: %s\r\n\r\n", math.random(0, rows - 1), wrk.headers["Host"])
end

function response(status)
	if status ~= 301 then
		wrong = wrong + 1
	end
end

function done(summary, latency)
	local bad = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
	for _, thread in ipairs(threads) do
		bad = bad + thread:get("wrong")
	end
	io.write(string.format("RESULT requests=%d duration_us=%d p99_us=%d errors=%d\n", summary.requests, summary.duration, latency:percentile(99), bad))
end
