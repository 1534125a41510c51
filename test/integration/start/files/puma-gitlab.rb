# The directives of GitLab.
require "json"

events = Module.new do
  def self.set_puma_options(options) = @options = options
  def self.do_worker_start = $stderr.puts("worker of #{@options[:workers]} begins")
end

rackup "config.ru"
pidfile "#{Dir.pwd}/tmp/pids/puma.pid"
state_path "#{Dir.pwd}/tmp/pids/puma.state"
stdout_redirect "#{Dir.pwd}/log/puma.stdout.log", "#{Dir.pwd}/log/puma.stderr.log", true
threads 1, 4
queue_requests false
bind "unix://#{Dir.pwd}/tmp/sockets/gitlab.socket"
bind "tcp://127.0.0.1:#{ENV.fetch("PORT")}"
workers 2
on_restart { $stderr.puts "never here" }
before_fork { ActiveRecord::Base.connection_pool.disconnect! }
events.set_puma_options @config.options
on_worker_boot { events.do_worker_start }
on_worker_shutdown { $stderr.puts "worker ends" }
preload_app!
tag "gitlab-puma-worker"
worker_timeout 60
raise "puma 5 needs another setting" if Puma::Const::PUMA_VERSION.split(".").first == "5"
wait_for_less_busy_worker ENV.fetch("PUMA_WAIT_FOR_LESS_BUSY_WORKER", 0.001).to_f
nakayoshi_fork if respond_to?(:nakayoshi_fork)
log_formatter { |text| { message: text }.to_json }
lowlevel_error_handler { |error, _env| [500, {}, ["An error: #{error.class}"]] }
