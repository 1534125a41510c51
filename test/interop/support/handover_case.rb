# frozen_string_literal: true

require "rbconfig"

module Interop
  # The base of tests in which start_server or systemd-socket-activate opens the listeners and executes the server.
  class HandoverCase < Support::TestCase
    SERVER = [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE].freeze

    # An application. Its response has the listener's name and port. The response also names each variable for inherited
    # sockets that the server has not removed from ENV.
    WHERE = <<~RUBY
      run(lambda do |env|
        seen = ENV.keys & %w[SERVER_STARTER_PORT LISTEN_FDS LISTEN_PID LISTEN_FDNAMES]
        [200, {}, [[*env.values_at("SERVER_NAME", "SERVER_PORT"), *seen].join(" ")]]
      end)
    RUBY

    private

    def start_under(*command, args: [], rackup: WHERE)
      rackup_file("config.ru", rackup)
      start_process(*command, *SERVER, *args, env: Support::BontebokProcess::ENVIRONMENT, chdir: temp_dir)
    end

    def start_server(*options, args: ["-w", "2"], rackup: WHERE)
      start_under("start_server", *options, "--", args: args, rackup: rackup)
    end

    # Lets start_server replace the server, and waits until it has noticed the end of the former server. Before that, it
    # may lose another HUP. Returns the number of the new generation.
    def next_generation(starter, number)
      starter.signal("HUP")
      eventually("generation #{number + 1} alone", seen: -> { starter.output.text }) do
        lines = [/ ready in \d+ ms$/, / stopped$/, /^old worker \d+ died/]
        lines.map { |line| starter.output.text.scan(line).size } == [number + 1, number, number]
      end
      number + 1
    end

    # Waits until the server is ready. Returns the addresses that the log names.
    def addresses(process)
      process.wait_for_output(/ ready in \d+ ms$/)
      process.output.text.scan(Support::BontebokProcess::LISTENING).flatten.map { |text| text.delete_suffix(",") }
    end
  end
end
