# The directives of pitchfork's documentation.
worker_processes 2
listen ENV.fetch("PORT").to_i, tcp_nopush: true, reuseport: true, backlog: 64, tcp_defer_accept: 1,
                                queues: 2, queues_per_worker: 1
timeout "10", cleanup: 3
spawn_timeout 20
refork_after [50, 100, 1000, false]
refork_max_unavailable 1
max_consecutive_spawn_errors 3
logger Logger.new($stdout)
setpgid false
early_hints true
rewindable_input true
client_body_buffer_size 112 * 1024
check_client_connection false

after_monitor_ready { |server| server.logger.info("monitor #{Process.pid}") }
before_fork { |server| server.logger.info("fork") }

after_mold_fork do |_server, mold|
  ActiveRecord::Base.connection_pool.disconnect! if mold.generation.zero?
  3.times { GC.start }
end

after_worker_fork { |_server, _worker| ActiveRecord::Base.establish_connection }
after_worker_ready { |server, worker| server.logger.info("worker #{worker.nr} ready") }
before_worker_exit { |server, worker| server.logger.info("#{worker.nr} has served #{worker.requests_count}") }
after_worker_exit do |server, worker, status|
  server.logger.error("#{worker.to_log} #{status.inspect}") unless status.success?
end
after_worker_timeout { |server, _worker, info| server.logger.error(info.thread.backtrace) }
after_worker_hard_timeout { |server, worker| server.logger.error(worker.pid) }
after_request_complete { |_server, _worker, _env| GC.start }
before_service_worker_ready { |server, _worker| server.logger.info("service") }
before_service_worker_exit { |server, _worker| server.logger.info("service ends") }
