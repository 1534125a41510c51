# frozen_string_literal: true

require "test_helper"
require_relative "../support/generation_search"

# The rules of generations in all orders of events (GenerationWorld), and rules with a mistake: the search finds each.
class GenerationModelTest < Support::TestCase
  # The most that each event may happen, so that all orders are few enough. bin/test --full has TOGETHER as well.
  WORLDS = [
    { deploy: 2, fail: 1 }, { deploy: 2, late: 1 }, { deploy: 1, die: 1, stop: 1 }, { deploy: 1, roll_back: 1, go_deaf: 1 },
    { deploy: 1, roll_back: 1, lose_worker: 1, late: 1 }, { deploy: 1, surge: 1, die: 1, workers: 3 },
    { deploy: 1, canary: true, judge_bad: 1, judge_good: 1, lose_worker: 1 }
  ].freeze
  TOGETHER = { deploy: 2, roll_back: 1, die: 1, stop: 1 }.freeze

  Rules = Bontebok::Succession
  Masters = Bontebok::Generations
  One = Bontebok::Generation
  # name => [the world, class, method, what the method does instead: gets the method, its object and the arguments]
  MISTAKES = {
    "a failed deploy is tried again" =>
      [{ deploy: 1, fail: 1 }, Rules, :stay, ->(*) {}],
    "another one is started although the former one serves by now" =>
      [{ deploy: 1, fail: 1 }, Rules, :start?, ->(_, rules) { rules.newest.nil? }],
    "the kept generation is released when the next deploy begins" =>
      [{ deploy: 2, fail: 1 }, Masters, :renew, ->(renew, masters) { masters.release && renew.call || renew.call }],
    "a failed generation is not told to end" =>
      [{ deploy: 1, late: 1 }, One, :leave, ->(leave, one, *how) { leave.call(*how) unless how.last == :fail }],
    "a failed deploy goes live" =>
      [{ deploy: 1, late: 1 }, Rules, :give_up, ->(_, rules, why) { rules.instance_exec { @server.fail(@newest, why) } }],
    "a generation takes effect when one worker is ready" =>
      [{ deploy: 1 }, Rules, :ready, ->(ready, rules, one) { [ready.call(one), rules.whole(one)] }],
    "the former generation leaves when the deploy begins" =>
      [{ deploy: 1 }, Rules, :replace, ->(replace, rules) { replace.call && rules.former&.leave(:retire, 5) }],
    "a superseded generation that stays does not take effect" =>
      [{ deploy: 1, die: 1, fail: 1 }, Rules, :stay, ->(_, rules) { rules.instance_exec { @newest, @former = @former } }],
    "a superseded generation is not told to end" =>
      [{ deploy: 2 }, Rules, :replace, ->(replace, rules) { replace.call.tap { rules.leaving.clear } }],
    "a stop forgets the kept generation" =>
      [{ deploy: 1, stop: 1 }, Rules, :stop, ->(stop, rules, how) { rules.instance_exec { @kept = nil } || stop.call(how) }],
    "a master is started while the server stops" =>
      [{ stop: 1 }, Masters, :stop, ->(_, masters, how) { masters.instance_exec { @succession.stop(how) } }],
    "the time of the kept generation has no end" =>
      [{ deploy: 1 }, Rules, :look_at_kept, ->(*) {}],
    "the kept generation is forgotten when its time is over" =>
      [{ deploy: 1 }, Rules, :release, ->(_, rules) { rules.instance_exec { @kept = nil } }],
    "another deploy keeps what served before the last one" =>
      [{ deploy: 2, die: 1, roll_back: 1 }, One, :ordered, ->(*) { false }],
    "the former generation does not get its workers back" =>
      [{ deploy: 1, surge: 1, late: 1 }, Rules, :grow_back, ->(*) {}],
    "more former workers leave than new ones are ready" =>
      [{ deploy: 1, surge: 1, workers: 3 }, Rules, :shrink, ->(shrink, _, count) { shrink.call(count + 1) }],
    "a worker that ends on trial does not matter" =>
      [{ deploy: 1, lose_worker: 1 }, Bontebok::Rollout, :note_crash, ->(*) {}],
    "a lost master does not matter" =>
      [{ deploy: 1, go_deaf: 1 }, Rules, :lost, ->(*) {}],
    "a lost master has no time limit" =>
      [{ go_deaf: 1 }, One, :lose, ->(_, one, *) { one.change(:lose) }],
    "nobody tells a master that its former generation has gone" =>
      [{ deploy: 1, die: 1 }, Rules, :tell_lonely, ->(*) {}],
    "a generation on trial has no time limit" =>
      [{ deploy: 1, late: 1 }, Rules, :give_up_late, ->(*) {}],
    "the time limit holds although nobody else serves" =>
      [{ die: 1, late: 1 }, Rules, :undecided?, ->(*) { true }],
    "a bad canary stays" =>
      [{ deploy: 1, canary: true, judge_bad: 1 }, Rules, :give_up, ->(*) {}],
    "a good canary does not go on" =>
      [{ deploy: 1, canary: true, judge_good: 1 }, Rules, :whole, ->(whole, _, one) { whole.call(one) unless one.state == :held }],
    "a rollback leaves the present generation alone" =>
      [{ deploy: 1, roll_back: 1 }, Rules, :replace, ->(replace, rules) { replace.call unless rules.newest&.state == :serving }],
    "a serving generation takes effect again" =>
      [{ deploy: 1, lose_worker: 1 }, Rules, :become_whole, ->(_, rules, _) { [rules.send(:relieve), rules.send(:serve)] }]
  }.freeze

  def test_all_orders_of_events_keep_the_rules
    WORLDS.each { |world| assert_nil GenerationSearch.new(**world).fault, world.inspect }
  end

  MISTAKES.each do |name, (world, owner, method, instead)|
    define_method("test_the_search_finds_that_#{name.tr(' ', '_')}") do
      fault = with_mistake(owner, method, instead) { GenerationSearch.new(**world).fault }
      assert fault, "the search does not find the mistake"
    end
  end

  private

  def with_mistake(owner, method, instead)
    original = owner.instance_method(method)
    hidden = owner.private_method_defined?(method)
    owner.define_method(method) { |*arguments| instead.call(original.bind(self), self, *arguments) }
    yield
  ensure
    owner.define_method(method, original)
    owner.send(:private, method) if hidden
  end
end
