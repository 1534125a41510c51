# frozen_string_literal: true

require "test_helper"
require_relative "support/framework_cases"

class Dancer2Test < Interop::FrameworkCases
  def application = "dancer2"

  def prepare
    super
    Dir.mkdir(File.join(temp_dir, "sessions"))
  end

  def test_a_delayed_response_is_sent
    at_each_entrance do |browser|
      response = browser.get("/delayed")
      assert_equal [201, "yes", "one, two"], [response.status, response["X-Delayed"], response.body]
    end
  end

  def test_a_file_from_memory_is_sent
    at_each_entrance do |browser|
      response = browser.get("/memory")
      assert_equal [200, "from memory", 'attachment; filename="memory.txt"'],
                   [response.status, response.body, response["Content-Disposition"]]
    end
  end

  def test_json_is_sent
    at_each_entrance do |browser|
      response = browser.get("/hash")
      assert_equal [200, '{"a":[1,2]}'], [response.status, response.body.delete(" \n")]
    end
  end
end
