# frozen_string_literal: true

# For bench/canary: responds with 500 to a share of the requests. The share is in a file, which each release reads when
# it is loaded.

share = Float(File.read(ENV.fetch("BENCH_ERRORS")))
random = Random.new

run lambda { |_env|
  status = random.rand < share ? 500 : 200
  [status, { "content-type" => "text/plain" }, [status.to_s]]
}
