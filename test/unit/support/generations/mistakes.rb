# frozen_string_literal: true

require "bontebok/processes/generations"
require "bontebok/processes/generations/rollout"

# Possible mistakes in the rules of generations. Each one stands for a fault that a change could bring.
module GenerationMistakes
  Rules = Bontebok::Succession
  Masters = Bontebok::Generations
  One = Bontebok::Generation
  Rollout = Bontebok::Rollout

  # fault: what the search says. world: the smallest one that shows it. owner, name: the class and the method.
  # instead: what the method does; it gets the right method, its object and its arguments.
  Mistake = Struct.new(:fault, :world, :owner, :name, :instead) do
    # Runs the block with the mistake.
    def plant
      right = owner.instance_method(name)
      hidden = owner.private_method_defined?(name)
      wrong = instead
      replace { |*arguments| wrong.call(right.bind(self), self, *arguments) }
      yield
    ensure
      replace(right)
      owner.send(:private, name) if hidden
    end

    private

    # Without a warning of Ruby.
    def replace(method = nil, &)
      owner.remove_method(name)
      method ? owner.define_method(name, method) : owner.define_method(name, &)
    end
  end

  ALL = {
    "a failed deploy is tried again" =>
      ["a master is started that nobody has asked for", { deploy: 1, fail: 1 }, Rules, :stay, ->(*) {}],
    "another one is started although the former one serves by now" =>
      ["a master is started that nobody has asked for", { deploy: 1, fail: 1 }, Rules, :start?,
       ->(_, rules) { rules.newest.nil? }],
    "a master that has asked to be replaced asks for ever" =>
      ["a master is started that nobody has asked for", { ask: 1, fail: 1 }, Rules, :add,
       ->(add, rules, one) { rules.former&.asks.tap { |asks| add.call(one) && rules.former&.asks = asks } }],
    "a failed deploy goes live" =>
      ["generation 2 serves, but it has failed", { deploy: 1, late: 1 }, Rules, :give_up,
       ->(_, rules, why) { rules.instance_exec { [@server.fail(@newest, why), @newest.whole_by = Float::INFINITY] } }],
    "a failed generation is not told to end" =>
      ["generation 2 is loaded, too", { deploy: 1, late: 1 }, One, :leave,
       ->(leave, _, *how) { leave.call(*how) unless how.last == :fail }],
    "a generation takes effect when one worker is ready" =>
      ["generation 1 serves with 1 workers", { deploy: 1 }, Rules, :ready,
       ->(ready, rules, one) { [ready.call(one), rules.whole(one)] }],
    "a serving generation takes effect again" =>
      ["generation 1 takes effect twice", { lose_worker: 1 }, Rules, :become_whole,
       ->(_, rules, one) { one.change(:whole) ? rules.instance_exec { [relieve, serve] } : rules.send(:serve) }],
    "the former generation leaves when the deploy begins" =>
      ["0 workers serve", { deploy: 1 }, Rules, :replace,
       ->(replace, rules) { replace.call && rules.former&.leave(:retire, 5) }],
    "a superseded generation that stays does not take effect" =>
      ["generation 1 is whole", { deploy: 1, die: 1, fail: 1 }, Rules, :stay,
       ->(_, rules) { rules.instance_exec { @newest, @former = @former } }],
    "a superseded generation is forgotten" =>
      ["nobody minds master 1", { deploy: 2 }, Rules, :replace,
       ->(replace, rules) { replace.call.tap { rules.leaving.clear } }],
    "a stop forgets the kept generation" =>
      ["nobody minds master 1", { deploy: 1, stop: 1 }, Rules, :stop,
       ->(stop, rules, how) { rules.instance_exec { @kept = nil } || stop.call(how) }],
    "a master is started while the server stops" =>
      ["a master is started while the server stops", { stop: 1 }, Masters, :stop,
       ->(_, masters, how) { masters.instance_exec { @succession.stop(how) } }],
    "the kept generation is released when the next deploy begins" =>
      ["the kept generation ends", { deploy: 2, fail: 1 }, Masters, :renew,
       ->(renew, masters) { [masters.release, renew.call] }],
    "the kept generation stays when its time is over" =>
      ["the loop does not come to rest", { deploy: 1 }, Rules, :look_at_kept, ->(*) {}],
    "the kept generation is forgotten when its time is over" =>
      ["nobody minds master 1", { deploy: 1 }, Rules, :release, ->(_, rules) { rules.instance_exec { @kept = nil } }],
    "another deploy keeps what served before the last one" =>
      ["the rollback goes to 1, but 2 served before", { deploy: 2, die: 1, roll_back: 1 }, One, :ordered,
       ->(*) { false }],
    "a rollback leaves the present generation alone" =>
      ["nobody minds master 2", { deploy: 1, roll_back: 1 }, Rules, :replace,
       ->(replace, rules) { replace.call unless rules.newest&.state == :serving }],
    "the former generation does not get its workers back" =>
      ["only 1 workers serve at the end", { deploy: 1, surge: 1, late: 1 }, Rules, :grow_back, ->(*) {}],
    "more former workers leave than new ones are ready" =>
      ["2 workers serve", { deploy: 1, surge: 1, workers: 3 }, Rules, :shrink,
       ->(shrink, _, count) { shrink.call(count + 1) }],
    "a worker that ends on trial does not matter" =>
      ["generation 2 serves, but it has lost a worker", { deploy: 1, lose_worker: 1 }, Rollout, :note_crash, ->(*) {}],
    "a lost master does not matter" =>
      ["the loop does not come to rest", { go_deaf: 1 }, Rules, :lost, ->(*) {}],
    "a lost master has no time limit" =>
      ["generation 1 is lost, too", { go_deaf: 1 }, One, :lose, ->(_, one, *) { one.change(:lose) }],
    "nobody tells a master that its former generation has gone" =>
      ["a master waits for another generation", { deploy: 1, die: 1 }, Rules, :tell_lonely, ->(*) {}],
    "a generation on trial has no time limit" =>
      ["generation 2 may take for ever", { deploy: 1, late: 1 }, Rules, :give_up_late, ->(*) {}],
    "the time limit holds although nobody else serves" =>
      ["generation 1 is given up, but nobody else serves", { late: 1 }, Rules, :undecided?, ->(*) { true }],
    "a bad canary stays" =>
      ["generation 2 is held, too", { deploy: 1, canary: true, judge_bad: 1 }, Rules, :give_up, ->(*) {}],
    "a good canary does not go on" =>
      ["generation 2 is held, too", { deploy: 1, canary: true, judge_good: 1 }, Rules, :whole,
       ->(whole, _, one) { whole.call(one) unless one.state == :held }]
  }.transform_values { |values| Mistake.new(*values) }.freeze
end
