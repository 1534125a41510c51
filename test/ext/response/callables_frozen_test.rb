# frozen_string_literal: true

require_relative "../support/lane_case"

# Applications that freeze or replace what the env has for callables (rack.response_finished, rack.after_reply).
class CallablesFrozenTest < Support::LaneCase
  def test_the_callables_of_a_frozen_array_are_called
    calls = Queue.new
    server = serve do |env|
      next OK unless env["PATH_INFO"] == "/add"

      note_calls(env, calls)
      %w[rack.after_reply rack.response_finished].each { |key| env[key].freeze }
      OK
    end
    server.get("/add")
    2.times { server.get("/next") }

    assert_equal(%i[after after second first], Array.new(calls.size) { calls.pop.first })
  end

  # Nothing that an application does to its env ends the thread, or reaches the next request.
  def test_an_env_that_the_application_has_damaged
    keys = %w[rack.after_reply rack.response_finished]
    damages = [
      ->(env) { keys.each { |key| env[key].freeze } }, ->(env) { keys.each { |key| env[key] = nil } },
      ->(env) { keys.each { |key| env[key] = 7 } }, ->(env) { keys.each { |key| env.delete(key) } },
      ->(env) { env.clear.freeze }, lambda(&:compare_by_identity),
      ->(env) { keys.each { |key| env[key] << 1 << nil } && keys.each { |key| env[key].freeze } },
      ->(env) { env[keys.first] << -> { keys.each { |key| env[key].freeze } } << -> {} },
      ->(env) { env[keys.first] = Object.new.tap { |list| list.define_singleton_method(:to_ary) { raise "no list" } } }
    ]
    [false, true].product(damages) do |frozen_env, damage|
      calls = Queue.new
      server = serve(frozen_env: frozen_env) do |env|
        damage.call(env) if env["PATH_INFO"] == "/damage"
        note_calls(env, calls) if env["PATH_INFO"] == "/next"
        OK
      end
      2.times { server.get("/damage") }
      server.get("/next")
      server.stop

      assert_equal %i[after after second first], Array.new(calls.size) { calls.pop.first }, damages.index(damage).to_s
      server.reports
    end
  end

  private

  def note_calls(env, calls)
    env["rack.response_finished"] << ->(*) { calls << [:first] } << ->(*) { calls << [:second] }
    2.times { env["rack.after_reply"] << -> { calls << [:after] } }
  end
end
