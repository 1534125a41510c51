# frozen_string_literal: true

module Conform
  # Runs one case of a table. The public methods return nil, or a text that names the fault of the server.
  class Exchange
    SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    NEXT = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

    def initialize(server, address)
      @server = server
      @address = address
    end

    # The server must send one response with one of the statuses. It must close the connection without a reset, so that
    # the client can read the response. It must not call the application for the request or for bytes after the request.
    def refusal_problem(bytes, statuses)
      ["", SMUGGLED].each do |tail|
        problem = talk { |client| problem_of_refusal(client, bytes + tail, statuses) } || call_problem([])
        return "#{problem}#{' (with bytes after it)' unless tail.empty?}" if problem
      end
      nil
    end

    # The application must get these values in env. ending: :kept if the connection must stay open after the response,
    # :closed if the server must close it. status: of the response. Only a response with status 200 has the env.
    def acceptance_problem(bytes, env, ending, status)
      talk do |client|
        client.write(bytes)
        response = client.read_response(to: bytes[/[A-Z]+(?= )/])
        next "got #{response.status}" unless response.status == status

        (env_problem(response.body, env) if status == 200) || send("#{ending}_problem", client)
      end
    end

    private

    def talk(&block)
      Support::Client.open(@address, &block)
    rescue Support::Error => e
      "#{e.class}: #{e.message}"
    end

    def problem_of_refusal(client, bytes, statuses)
      write_to_the_refusal(client, bytes)
      response = client.read_response
      return "got #{response.status}" unless statuses.include?(response.status)
      return "the response has no Date" unless response["Date"]
      return "the response does not say that it closes" if response.keep_alive?
      return "the response has no length" unless response.framing == :length

      rest = client.read_to_end
      "more after the response: #{rest[0, 100].inspect}" unless rest.empty?
    end

    # The server may close the connection before it has read all bytes.
    def write_to_the_refusal(client, bytes)
      client.write(bytes)
    rescue Support::Client::Reset
      nil
    end

    def call_problem(expected)
      calls = @server.get("/calls").body.lines(chomp: true)
      "the application was called: #{calls.inspect}" unless calls == expected
    end

    def env_problem(body, expected)
      env = body.lines(chomp: true).to_h { |line| line.split("=", 2) }.transform_values(&:undump)
      expected.each do |name, value|
        return "#{name} is #{env[name].inspect}" unless env[name] == value&.b
      end
      nil
    end

    def kept_problem(client)
      client.write(NEXT)
      response = client.read_response
      "the next request got #{response.status}" unless response.body.include?("PATH_INFO=\"/next\"")
    end

    def closed_problem(client)
      rest = client.read_to_end
      "more after the response: #{rest[0, 100].inspect}" unless rest.empty?
    end
  end
end
