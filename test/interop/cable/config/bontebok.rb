# frozen_string_literal: true

# Called before a worker closes its hijacked sockets. Each client gets `disconnect` with `reconnect: true`.
before_worker_drain do
  ActionCable.server.connections.dup.each { |connection| connection.close(reason: "server_restart") }
  ActionCable.server.restart
end
