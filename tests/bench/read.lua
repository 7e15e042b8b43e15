-- read.lua - wrk script: plain GETs; prints one line that bench.py reads.
function done(summary, latency, requests)
	io.write(string.format("RESULT requests=%d duration_us=%d errors=%d p50_us=%d p99_us=%d max_us=%d\n", summary.requests,
	    summary.duration, summary.errors.status + summary.errors.read + summary.errors.write + summary.errors.connect +
	    summary.errors.timeout, latency:percentile(50), latency:percentile(99), latency.max))
end
