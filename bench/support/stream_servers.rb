# frozen_string_literal: true

require_relative "load"
require_relative "process_group"
require_relative "stream_contestants"

module Bench
  # The running servers of bench/stream and bench/pauses. Each is frozen (SIGSTOP) except while it is measured.
  class StreamServers
    CORE = 1

    # Starts the servers, calls the block with a StreamServers, and ends the servers. Prints which servers do not start.
    # dir: where the logs lie. file: the path of the file that the application sends.
    def self.open(names, dir, file)
      servers = new(dir, file)
      names.each { |name| servers.start(name) }
      yield servers
    ensure
      servers&.finish
    end

    def initialize(dir, file)
      @dir = dir
      @file = file
      @servers = {}
    end

    def start(name)
      port = Load.address("tcp", @dir, name)[/\d+\z/]
      contestant = StreamContestants.find(name, port, @file)
      log = File.join(@dir, "#{name}.log")
      server = ProcessGroup.new(contestant.command, env: contestant.env, address: "127.0.0.1:#{port}", core: CORE,
                                                    log: log)
      @servers[name] = [server, port]
      return server.pause if server.ready?

      @servers.delete(name)
      server.finish
      puts "left out: #{name} does not start: #{File.read(log).lines.last(3).join.strip}"
    end

    # Calls the block with the name, the ProcessGroup and the port of each server while it is not frozen.
    def each
      @servers.each do |name, (server, port)|
        server.resume
        yield name, server, port
        server.pause
      end
    end

    def finish
      @servers.each_value { |(server, _port)| server.finish }
    end
  end
end
