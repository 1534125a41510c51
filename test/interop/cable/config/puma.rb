# frozen_string_literal: true

# The signal USR1 replaces the workers only if each worker loads the application itself.
preload_app! false
before_worker_shutdown do
  ActionCable.server.connections.dup.each { |connection| connection.close(reason: "server_restart") }
  ActionCable.server.restart
end
