# The directives of Heroku's guide.
workers(ENV.fetch("WEB_CONCURRENCY") { 2 })
threads_count = ENV.fetch("RAILS_MAX_THREADS") { 3 }
threads(threads_count, threads_count)
preload_app!
rackup(DefaultRackup) if defined?(DefaultRackup)
port(ENV["PORT"] || 3000, "::")
environment(ENV["RACK_ENV"] || "development")
enable_keep_alives(false) if respond_to?(:enable_keep_alives)

on_worker_boot do
  ActiveRecord::Base.establish_connection
end
