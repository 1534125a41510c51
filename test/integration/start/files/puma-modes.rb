# The directives of puma 6 to 8 that depend on the mode, or that tune puma itself.
port ENV.fetch("PORT", 3000)
bind_to_activated_sockets "only"
workers 2

single { silence_single_worker_warning }
cluster do
  preload_app!
  before_worker_boot(:pool) { |index, data| data[:index] = index }
  before_worker_shutdown(:pool) { |index, data| $stderr.puts "#{index} #{data[:index]}" }
end

activate_control_app "tcp://127.0.0.1:9293", { auth_token: "secret" }
clean_thread_locals
fork_worker 1000
force_shutdown_after 20
idle_timeout 600
max_io_threads 4
custom_logger Logger.new($stdout) if defined?(Logger)
rack_url_scheme "https"
early_hints true
quiet
