# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/failing"
require "rack/events"

# Rack::BodyProxy wraps most bodies. Its to_ary closes the proxy. The block of a proxy must run once.
class BodyProxyTest < Support::LaneCase
  Body = Support::Failing::Body

  def test_a_proxy_closes_its_body_once
    [Body.new(->(out) { out.call("x") }, closed?: -> { true }), Body.new(->(out) { out.call("x") })].each do |body|
      ended = 0
      server = serve { [200, {}, Rack::BodyProxy.new(body) { ended += 1 }] }

      assert_equal "x", server.get.body
      server.await_requests(1)
      assert_equal [1, 1], [body.closed, ended]
    end
  end

  def test_a_proxy_of_an_array_is_sent_with_its_length
    ended = 0
    server = serve { [200, {}, Rack::BodyProxy.new(%w[a b]) { ended += 1 }] }

    assert_equal "2", server.get["content-length"]
    server.await_requests(1)
    assert_equal 1, ended
  end

  # Rack::Events has a subclass of Rack::BodyProxy. Tracing libraries use Rack::Events.
  def test_a_subclass_of_a_proxy_runs_its_block_once
    ended = Queue.new
    handler = Object.new.extend(Rack::Events::Abstract)
    handler.define_singleton_method(:on_finish) { |*| ended << true }
    app = ->(_) { [200, {}, Rack::BodyProxy.new(%w[a b]) { ended << true }] }
    server = serve(Rack::Events.new(app, [handler]))

    assert_equal "2", server.get["content-length"]
    server.await_requests(1)
    assert_equal 2, ended.size
  end

  def test_a_subclass_with_a_close_of_its_own_is_closed_once
    ended = 0
    proxy = Class.new(Rack::BodyProxy) { define_method(:close) { super().then { ended += 1 } } }
    server = serve { [200, {}, proxy.new(%w[a b]) { nil }] }

    assert_equal "ab", server.get.body
    server.await_requests(1)
    assert_equal 1, ended
  end
end
