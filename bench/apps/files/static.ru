# frozen_string_literal: true

# The application of bench/files for servers that serve no files: Rails' middleware, with the Cache-Control of a new
# Rails application in production. BENCH_SENDFILE: Rack::Sendfile, for Thruster.

require "action_dispatch"

use Rack::Sendfile if ENV["BENCH_SENDFILE"]
use ActionDispatch::Static, ENV.fetch("BENCH_ROOT"), headers: { "cache-control" => "public, max-age=31556952" }
run(proc { |_env| [404, { "content-type" => "text/plain", "content-length" => "10" }, ["Not Found\n"]] })
