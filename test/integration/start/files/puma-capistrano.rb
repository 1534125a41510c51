#!/usr/bin/env puma
# The directives of capistrano3-puma.

directory Dir.pwd
rackup "#{Dir.pwd}/config.ru"
environment "production"
tag "shop"
pidfile "#{Dir.pwd}/tmp/pids/puma.pid"
state_path "#{Dir.pwd}/tmp/pids/puma.state"
stdout_redirect "#{Dir.pwd}/log/puma_access.log", "#{Dir.pwd}/log/puma_error.log", true
threads 0, 4
bind "unix://#{Dir.pwd}/tmp/sockets/puma.sock"
bind "tcp://127.0.0.1:#{ENV.fetch("PORT")}"
activate_control_app "unix://#{Dir.pwd}/tmp/sockets/pumactl.sock"
workers 2
daemonize false
restart_command "bundle exec puma"
preload_app!

on_restart do
  puts "Refreshing Gemfile"
  ENV["BUNDLE_GEMFILE"] = "#{Dir.pwd}/Gemfile"
end

before_fork { ActiveRecord::Base.connection_pool.disconnect! }

on_worker_boot do
  ActiveSupport.on_load(:active_record) { ActiveRecord::Base.establish_connection }
end
