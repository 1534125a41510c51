# frozen_string_literal: true

# The application of bench/files for Falcon: Rack's middleware.

require "rack"

use Rack::Static, urls: [""], root: ENV.fetch("BENCH_ROOT"), cascade: true
run(proc { |_env| [404, { "content-type" => "text/plain", "content-length" => "10" }, ["Not Found\n"]] })
