# frozen_string_literal: true

require_relative "../embedded/server"
require_relative "rackup_options"

module Bontebok
  # The server :bontebok of Capybara. lib/bontebok/capybara.rb registers it.
  module CapybaraServer
    # A page may request another page from the same server while its own request runs.
    THREADS = 4

    # Serves until the thread of the caller ends: Capybara calls this method in a thread of its own, and never stops the
    # server. options: see RackupOptions.for_server.
    def self.run(app, port, host, **options)
      server = Server.new(app, threads: THREADS, **RackupOptions.for_server(options.merge(Host: host, Port: port)))
      server.start.join
    end
  end
end
