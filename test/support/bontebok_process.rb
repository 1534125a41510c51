# frozen_string_literal: true

require "rbconfig"

module Support
  # The real exe/bontebok in a process group of its own. By default it listens on a unix socket in the folder it is
  # given; with listen: :tcp on a port of 127.0.0.1 that the kernel chooses and the start line tells.
  class BontebokProcess < ChildProcess
    EXECUTABLE = File.expand_path("../../exe/bontebok", __dir__)
    LISTENING = /listening on (\S+)/
    # What a developer's shell may hold and a test must not depend on.
    ENVIRONMENT = { "RACK_ENV" => nil, "RAILS_ENV" => nil, "PORT" => nil,
                    "WEB_CONCURRENCY" => nil, "RAILS_MAX_THREADS" => nil }.freeze

    # folder    where the rackup file and the unix socket lie; also the working directory
    # args      further arguments, before the rackup file
    # rackup    the text of config.ru; nil: there is none, or the test has written one
    # listen    :unix, :tcp, or nil when args hold the addresses
    def initialize(folder, args: [], env: {}, rackup: nil, listen: :unix, **options)
      @folder = folder
      File.write(File.join(folder, "config.ru"), rackup) if rackup
      super(RbConfig.ruby, EXECUTABLE, *listen_arguments(listen), *args.map(&:to_s),
            env: ENVIRONMENT.merge(env), chdir: folder, **options)
    end

    # Waits until it listens: from then on a request waits for a worker at worst. Raises Error with its output when it
    # ends instead.
    def wait_until_ready(limit = Deadline::DEFAULT_SECONDS)
      wait_for_output(LISTENING, limit)
      self
    end

    # The addresses of its start lines, in order.
    def addresses
      output.text.scan(LISTENING).map { |(text)| Address.new(text.delete_suffix(",")) }
    end

    def address
      addresses.first
    end

    def connect(&block)
      Client.open(address, &block)
    end

    # One request on a connection of its own. Returns the Response.
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

    private

    def listen_arguments(listen)
      case listen
      when :unix then ["-l", "unix:#{@folder}/bontebok.sock"]
      when :tcp then ["-l", "127.0.0.1:0"]
      when nil then []
      end
    end
  end
end
