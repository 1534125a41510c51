# The directives of Forem.
workers Integer(ENV["WEB_CONCURRENCY"] || 2)
threads_count = Integer(ENV["MAX_THREADS"] || 5)
threads threads_count, threads_count
worker_timeout 15
worker_shutdown_timeout 8
preload_app!
rackup DefaultRackup
port ENV["PORT"] || 3000
environment ENV["RACK_ENV"] || "development"

on_worker_boot { ActiveRecord::Base.establish_connection }

before_fork do
  # The gem puma_worker_killer is enabled here.
  Thread.new { sleep }
end
