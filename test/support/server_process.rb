# frozen_string_literal: true

module Support
  # A process that runs Bontebok: exe/bontebok, rackup or `rails server`. The server's start lines in the log name its
  # addresses.
  class ServerProcess < ChildProcess
    LISTENING = /listening on (\S+)/
    # Variables that a developer's shell may have. No test may depend on them.
    ENVIRONMENT = { "APP_ENV" => nil, "RACK_ENV" => nil, "RAILS_ENV" => nil, "PORT" => nil,
                    "WEB_CONCURRENCY" => nil, "RAILS_MAX_THREADS" => nil }.freeze

    def initialize(*argv, env: {}, **options)
      Costs.count(:starts)
      super(*argv, env: ENVIRONMENT.merge(env), **options)
    end

    # Waits until the server listens. A request can still wait for the first worker. Raises Error with the output if the
    # server ends.
    def wait_until_ready(limit = Deadline::DEFAULT_SECONDS)
      wait_for_output(LISTENING, limit)
      self
    end

    # The addresses in the server's start lines, in order.
    def addresses
      output.text.scan(LISTENING).map { |(text)| Address.new(text.delete_suffix(",")) }
    end

    def address
      addresses.first
    end

    def connect(&block)
      Client.open(address, &block)
    end

    # Sends one request on a new connection. Returns the Response.
    def request(method, target, fields = {}, body = nil, limit: Deadline::DEFAULT_SECONDS)
      deadline = Deadline.for(limit)
      connect do |client|
        client.request(method, target, { "Connection" => "close" }.merge(fields), body, limit: deadline)
        client.read_response(deadline, to: method)
      end
    end

    def get(target = "/", fields = {}, limit: Deadline::DEFAULT_SECONDS)
      request("GET", target, fields, limit: limit)
    end
  end
end
