# frozen_string_literal: true

require "rbconfig"

module Interop
  # A server whose listeners another program has opened: that program is started with the server's command.
  class HandoverCase < Support::TestCase
    SERVER = [RbConfig.ruby, Support::BontebokProcess::EXECUTABLE].freeze

    # Tells where the request came in, and which of the variables with sockets the application can see.
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

    # Of which the log tells when the lanes may be serving already.
    def addresses(process)
      process.wait_for_output(/ ready in \d+ ms$/)
      process.output.text.scan(Support::BontebokProcess::LISTENING).flatten.map { |text| text.delete_suffix(",") }
    end

    # HTTP/1.0: without Host the listener's own name and port are told.
    def ask(address)
      Support::Client.open(address) do |client|
        client.write("GET / HTTP/1.0\r\n\r\n")
        client.read_response.body
      end
    end
  end
end
