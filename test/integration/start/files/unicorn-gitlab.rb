# The directives of GitLab with unicorn, and of many files for Capistrano.
Unicorn::HttpServer::START_CTX[0] = "#{Dir.pwd}/bin/unicorn"
Configurator::DEFAULTS[:logger].formatter = Logger::Formatter.new
HttpRequest::DEFAULTS["rack.url_scheme"] = "https"

worker_processes 2
working_directory Dir.pwd
listen "#{Dir.pwd}/tmp/sockets/gitlab.socket", backlog: 1024
listen "127.0.0.1:#{ENV.fetch("PORT")}", tcp_nopush: true
timeout 60
pid "#{Dir.pwd}/tmp/pids/unicorn.pid"
stderr_path "#{Dir.pwd}/log/unicorn.stderr.log"
stdout_path "#{Dir.pwd}/log/unicorn.stdout.log"
preload_app true
check_client_connection false

before_exec { |_server| ENV["BUNDLE_GEMFILE"] = "#{Dir.pwd}/Gemfile" }

before_fork do |server, worker|
  defined?(ActiveRecord::Base) && ActiveRecord::Base.connection_pool.disconnect!
  old_pid = "#{server.config[:pid]}.oldbin"
  if File.exist?(old_pid) && server.pid != old_pid
    signal = worker.nr + 1 >= server.worker_processes ? :QUIT : :TTOU
    Process.kill(signal, File.read(old_pid).to_i)
  end
end

after_fork do |server, worker|
  server.listen("127.0.0.1:#{9293 + worker.nr}", tries: -1, delay: 5, tcp_nopush: true)
  defined?(ActiveRecord::Base) && ActiveRecord::Base.establish_connection
end
