# frozen_string_literal: true

require "test_helper"
require_relative "../../../bench/support/crowd"
require_relative "../../../bench/support/decoy"

# The slow and idle clients of bench/drip and bench/idle (Bench::Crowd). If the server disconnected them, these
# benchmarks would measure nothing.
class BenchCrowdTest < Support::TestCase
  COUNT = 40
  APPLICATION = 'run ->(_env) { [200, { "content-length" => "14" }, ["Hello, World!\n"]] }'

  %i[unix tcp].each do |transport|
    define_method("test_no_client_of_a_crowd_is_disconnected_over_#{transport}") do
      server = start_bontebok(listen: transport, args: %w[-w 1], rackup: APPLICATION)
      with_crowd(server.address) do |crowd|
        crowd.idle(COUNT).drip(COUNT)
        dripped_for_a_while(crowd)
        assert_equal [0, 0], crowd.lost
      end
    end
  end

  def test_slow_readers_count_as_lost_if_they_are_not_served
    server = start_bontebok(listen: :tcp, args: %w[-w 1 --graceful-timeout 100ms], rackup: <<~RUBY)
      run(lambda do |env|
        sleep if env["PATH_INFO"] == "/stuck"
        [200, {}, ["x" * 4_000_000]]
      end)
    RUBY
    { "/" => 0, "/stuck" => COUNT }.each do |path, lost|
      with_crowd(server.address) do |crowd|
        crowd.read_slowly(COUNT, path, 1024, 1.5)
        eventually("the other readers") { crowd.lost_readers <= lost }
        assert_equal lost, crowd.lost_readers
      end
    end
  end

  def test_clients_that_are_disconnected_are_counted
    server = start_bontebok(args: %w[-w 1 --header-timeout 1 --keepalive-timeout 1], rackup: APPLICATION)
    with_crowd(server.address) do |crowd|
      crowd.idle(COUNT).drip(COUNT)
      eventually("all to be sent away") { crowd.lost == [COUNT, COUNT] }
      assert_equal [COUNT, COUNT], crowd.lost
    end
  end

  def test_a_decoy_keeps_all_clients_until_it_finishes
    path = File.join(temp_dir, "decoy")
    decoy = Bench::Decoy.new(path)
    with_crowd("unix:#{path}") do |crowd|
      crowd.drip(COUNT)
      dripped_for_a_while(crowd)
      assert_equal [0, 0], crowd.lost
      decoy.finish
      decoy = nil
      assert_equal [0, COUNT], crowd.lost
    end
  ensure
    decoy&.finish
  end

  private

  def with_crowd(address)
    crowd = Bench::Crowd.new(address.to_s.delete_prefix("unix:"))
    yield crowd
  ensure
    crowd.leave
  end

  # Waits until the crowd has sent two bytes per client.
  def dripped_for_a_while(crowd)
    eventually("the crowd to drip") { crowd.dripped >= 2 * COUNT }
  end
end
