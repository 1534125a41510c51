# frozen_string_literal: true

require "rbconfig"

module Interop
  # The base of tests in which another program opens the server's listeners. The test starts this program with the
  # server's command.
  class HandoverCase < Support::TestCase
    SERVER = [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE].freeze

    # Responds with the listener's name and port, and with those variables for sockets that the application can see.
    WHERE = <<~RUBY
      run(lambda do |env|
        seen = ENV.keys & %w[SERVER_STARTER_PORT LISTEN_FDS LISTEN_PID LISTEN_FDNAMES]
        [200, {}, [[*env.values_at("SERVER_NAME", "SERVER_PORT"), *seen].join(" ")]]
      end)
    RUBY

    private

    def start_under(*command, args: [], rackup: WHERE)
      temp_file("config.ru", rackup)
      start_process(*command, *SERVER, *args, env: Support::BontebokProcess::ENVIRONMENT, chdir: temp_dir)
    end

    def start_server(*options, args: ["-w", "2"], rackup: WHERE)
      start_under("start_server", *options, "--", args: args, rackup: rackup)
    end

    # Returns the addresses from the log. A line about an address may come when the lanes serve already, so this waits
    # until the server is ready.
    def addresses(process)
      process.wait_for_output(/ ready in \d+ ms$/)
      process.output.text.scan(Support::BontebokProcess::LISTENING).flatten.map { |text| text.delete_suffix(",") }
    end

    # Uses HTTP/1.0: without Host, the response has the listener's own name and port.
    def ask(address)
      Support::Client.body_from(address)
    end
  end
end
