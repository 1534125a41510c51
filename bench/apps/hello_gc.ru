# frozen_string_literal: true

# hello.ru for bench/price: the garbage collector runs after each 1000th request, and at no other time. Else the number
# of its runs, and with it the number of instructions, would differ between two measurements of the same server.
GC.disable
requests = 0
run(proc do |_env|
  GC.start(full_mark: false) if ((requests += 1) % 1000).zero?
  [200, { "content-type" => "text/plain", "x-app" => "hello" }, ["Hello, World!\n"]]
end)
