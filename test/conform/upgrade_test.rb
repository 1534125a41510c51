# frozen_string_literal: true

require "test_helper"

# RFC 9110 7.8: a client offers other protocols in Upgrade. The application accepts one, or responds as usual.
class UpgradeTest < Support::TestCase
  # /accept accepts "echo" if it is offered. Each other response has the offers.
  APP = <<~RUBY
    run(lambda do |env|
      offers = env["rack.protocol"]
      headers = { "content-type" => "text/plain" }
      case env["PATH_INFO"]
      when "/accept"
        next [426, headers.merge("upgrade" => "echo"), ["offer echo"]] unless offers&.include?("echo")

        text = env["rack.input"].read
        echo = lambda do |stream|
          stream.write(text, stream.readpartial(100))
          stream.close
        end
        [101, { "rack.protocol" => "echo" }, echo]
      when "/unasked" then [101, { "upgrade" => "echo" }, []]
      else [200, headers, [offers.inspect]]
      end
    end)
  RUBY

  BEHIND = "GET /behind HTTP/1.1\r\nHost: a\r\n\r\n"

  # { case => [fields, the offers that the application sees] }
  OFFERS = {
    "one protocol" => ["Connection: Upgrade\r\nUpgrade: websocket\r\n", '["websocket"]'],
    "several protocols, in two fields" => ["Upgrade: a/1, b\r\nConnection: x, upgrade\r\nUpgrade: c\r\n",
                                           '["a/1", "b", "c"]'],
    "no Connection field" => ["Upgrade: websocket\r\n", "nil"],
    "another connection option" => ["Connection: keep-alive\r\nUpgrade: websocket\r\n", "nil"],
    "no Upgrade field" => ["Connection: Upgrade\r\n", "nil"],
    "an empty Upgrade field" => ["Connection: Upgrade\r\nUpgrade:\r\n", "nil"]
  }.freeze

  def setup
    super
    @server = start_bontebok(args: %w[-w 1 -t 2], rackup: APP, lint: false)
  end

  def test_the_offers_of_a_request
    OFFERS.each do |name, (fields, offers)|
      exchange("GET / HTTP/1.1", fields) { |client| assert_equal offers, client.read_response.body, name }
    end
    exchange("GET / HTTP/1.0", OFFERS["one protocol"].first) do |client|
      assert_equal "nil", client.read_response.body, "HTTP/1.0"
    end
  end

  def test_an_accepted_upgrade
    { "" => "", "Content-Length: 4\r\n" => "body", "Transfer-Encoding: chunked\r\n" => "4\r\nbody\r\n0\r\n\r\n" }
      .each do |field, body|
      exchange("POST /accept HTTP/1.1", "Connection: Upgrade\r\nUpgrade: echo\r\n#{field}", body + BEHIND) do |client|
        response = client.read_response
        assert_equal [101, "upgrade", "echo", nil, nil],
                     [response.status, *%w[connection upgrade content-length transfer-encoding].map { |f| response[f] }]
        # The bytes behind the request belong to the other protocol, and are never a request.
        assert_equal "#{'body' unless body.empty?}#{BEHIND}", client.read_to_end
      end
    end
  end

  def test_a_refused_upgrade
    exchange("GET /accept HTTP/1.1", "Connection: Upgrade\r\nUpgrade: websocket\r\n", BEHIND) do |client|
      response = client.read_response
      assert_equal [426, "echo", "upgrade"], [response.status, response["upgrade"], response["connection"]]
      assert_equal "nil", client.read_response.body # the bytes behind it are the next request
    end
    exchange("GET / HTTP/1.1", "Connection: Upgrade\r\nUpgrade: websocket\r\n", BEHIND) do |client|
      assert_equal [200, 200], Array.new(2) { client.read_response.status }
    end
  end

  def test_an_upgrade_that_the_client_has_not_asked_for
    exchange("GET /unasked HTTP/1.1", "") { |client| assert_equal 500, client.read_response.status }
    @server.wait_for_output(/the client has not asked for an upgrade/)
  end

  private

  def exchange(line, fields, rest = "")
    @server.connect do |client|
      client.write("#{line}\r\nHost: a\r\n#{fields}\r\n#{rest}")
      yield client
    end
  end
end
