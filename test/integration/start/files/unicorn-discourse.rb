# The directives of Discourse with unicorn.
path = File.expand_path(ENV.fetch("APP_PATH", Dir.pwd))

worker_processes (ENV["UNICORN_WORKERS"] || 2).to_i
working_directory path
listen "#{"127.0.0.1:" unless ENV["UNICORN_BIND_ALL"]}#{(ENV["PORT"] || 3000).to_i}"

FileUtils.mkdir_p("#{path}/tmp/pids") unless File.exist?("#{path}/tmp/pids")
pid ENV["UNICORN_PID_PATH"] || "#{path}/tmp/pids/unicorn.pid"

if ENV["RAILS_ENV"] == "development" || !ENV["RAILS_ENV"]
  logger Logger.new($stdout)
  timeout 60
else
  stderr_path "#{path}/log/unicorn.stderr.log"
  stdout_path "#{path}/log/unicorn.stdout.log"
  timeout 30
end

preload_app true
check_client_connection false

initialized = false
before_fork do |server, worker|
  server.logger.info "before the worker #{worker.nr}" unless initialized
  initialized = true
end

after_fork { |_server, _worker| ActiveRecord::Base.establish_connection }
