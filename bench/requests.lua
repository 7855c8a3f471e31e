-- What wrk sends. Arguments: method, path, merchant, key, body file or "-", first id, last
-- id, known entity tag or "-".
-- A "%d" in the path becomes a random id between the two.

local method, path, body, first, last

function init(args)
    method, path = args[1], args[2]
    wrk.headers["X-Service-MerchantId"] = args[3]
    wrk.headers["X-Service-REST-API-Key"] = args[4]
    wrk.headers["Accept"] = "application/json"
    if args[5] ~= "-" then
        local file = assert(io.open(args[5], "rb"))
        body = file:read("*a")
        file:close()
        wrk.headers["Content-Type"] = "application/json"
    end
    first, last = tonumber(args[6]), tonumber(args[7])
    if args[8] ~= "-" then
        wrk.headers["If-None-Match"] = args[8]
    end
    math.randomseed(20261115)
end

function request()
    local target = path
    if path:find("%%d") then
        target = path:format(math.random(first, last))
    end
    return wrk.format(method, target, nil, body)
end

function done(summary, latency, _)
    local errors = summary.errors
    io.write(string.format(
        '\nRESULT {"requests": %d, "microseconds": %d, "failed": %d, "refused": %d, "p50": %d, "p99": %d}\n',
        summary.requests, summary.duration,
        errors.connect + errors.read + errors.write + errors.timeout, errors.status,
        latency:percentile(50), latency:percentile(99)
    ))
end
