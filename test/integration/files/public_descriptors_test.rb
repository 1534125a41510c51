# frozen_string_literal: true

require "test_helper"

# Connections have as many descriptors as without `public`, but for the directory's own. Files that are open are closed
# before an idle connection.
class PublicDescriptorsTest < Support::TestCase
  LIMIT = 256
  # More than a worker keeps open. It keeps none of this size in memory.
  FILES = 200
  SIZE = 20_000
  # The directory has one descriptor. Both numbers differ by one from run to run.
  FEW = 2

  def setup
    FILES.times { |number| File.truncate(temp_file("public/#{number}"), SIZE) }
  end

  def test_no_connection_is_closed_sooner
    [[], %w[--max-connections 200]].each do |limit|
      without = places(limit, 0)
      assert_operator without, :>, LIMIT / 2
      assert_operator places([*limit, "--public", "public"], SIZE), :>=, without - FEW
    end
  end

  private

  # Returns how many connections the worker has before it closes an idle one. Files are sent also then. size: bytes of
  # the files.
  def places(args, size)
    server = start_bontebok(args: ["-w", "1", "-t", "1", *args], rackup: "run ->(_) { [200, {}, []] }\n",
                            rlimit_nofile: [LIMIT, LIMIT])
    server.connect { |client| FILES.times { |number| assert_size(size, client, number) } }
    clients = []
    until one_is_closed?(clients)
      clients << server.connect
      assert_size(0, clients.last, "none")
    end
    server.connect { |client| assert_size(size, client, 0) }
    clients.size - 1
  ensure
    clients&.each(&:close)
    server&.stop
  end

  def assert_size(size, client, name)
    client.request("GET", "/#{name}")
    assert_equal size, client.read_response.body.size
  end

  def one_is_closed?(clients) = clients.any? && IO.select(clients.map(&:socket), nil, nil, 0)
end
