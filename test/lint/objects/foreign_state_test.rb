# frozen_string_literal: true

require_relative "../checks"

class ForeignStateTest < Lint::TestCase
  USERS = { "lib/a.rb" => "class A\n  include Shared\nend\nclass B\n  include Shared\nend\n" }.freeze

  def test_no_object_of_this_tree_uses_the_state_of_another_one
    assert_clean Lint::ForeignState
  end

  def test_a_variable_that_a_module_does_not_assign_is_reported
    assert_equal ["Shared reads @a @b, and does not assign it"], shared("def text = [@a, @b]")
    assert_equal ["Shared reads @a, and does not assign it"], shared("def text = @a\n  def self.b = @b ||= 1")
  end

  def test_a_module_may_have_variables_of_its_own
    assert_empty shared("def text = @text ||= 1")
    assert_empty shared("class << self\n    attr_writer :text\n    def show = @text\n  end")
  end

  ["other.instance_variable_get(:@a)", "other.instance_variable_set(:@a, 1)", "other.send(:hide)",
   "other.__send__(name, 1)", "OTHER.send(name)",
   "other&.send(:hide)", "other.instance_eval(&block)", "method(:hide)"].each_with_index do |code, index|
    define_method("test_forcing_#{index}_is_reported") do
      assert_equal ["lib/a.rb:2 calls #{code}"], call(code)
    end
  end

  def test_calls_of_the_own_object_and_of_sockets_are_allowed
    ["send(name)", "self.send(:a)", "instance_variable_set(:@a, 1)", "socket.send(text, 0)",
     "socket.send(text, NoSignal::FLAG)", "instance_eval(&block)",
     "other.public_send(name)", "other.method(:a)"].each { |code| assert_empty call(code) }
  end

  def test_a_listed_call_that_is_gone_is_reported
    listed = { "lib/a.rb send" => "a reason" }
    assert_empty call("other.send(:a)", listed: listed)
    assert_equal ["lib/a.rb send is listed as an exception, and is no fault"], call("other.a", listed: listed)
  end

  private

  def shared(code)
    faults(Lint::ForeignState, **USERS, "lib/b.rb" => "module Shared\n  #{code}\nend\n")
  end

  def call(code, **options)
    faults(Lint::ForeignState, { "lib/a.rb" => "class A\n  def a = #{code}\nend\n" }, **options)
  end
end
