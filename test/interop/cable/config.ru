# frozen_string_literal: true

require_relative "config/environment"
require_relative File.join(ENV.fetch("BONTEBOK_ROOT"), "test/interop/apps/hijack_lint")

# A request for the worker's process id does not enter Rails. Tests send many of these requests to recycle a worker.
map("/pid") { run ->(_env) { [200, { "content-type" => "text/plain" }, [Process.pid.to_s]] } }

map "/" do
  use HijackLint
  run Rails.application
end
Rails.application.load_server
