# The options of Rhebok's README.
host "127.0.0.1"
port ENV.fetch("PORT")
max_workers ENV.fetch("WEB_CONCURRENCY", 3)
timeout 30
max_request_per_child 1000
min_request_per_child 800
spawn_interval 0
err_respawn_interval 1
oobgc true
max_gc_per_request 6
min_gc_per_request 4
backlog 1024
reuseport false
chunked_transfer true

before_fork { ActiveRecord::Base.connection_pool.disconnect! }
after_fork { ActiveRecord::Base.establish_connection }
